"""Debian's Chromium, driven: pages are opened, clicked and looked at as users do it."""

from __future__ import annotations

import base64
import io
import shutil
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import numpy.typing as npt
from selenium.webdriver import ActionChains, Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

__all__ = ["CHROMIUM", "DRIVER", "Browser"]

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
_ARGUMENTS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--hide-scrollbars", "--disable-background-networking", "--disable-component-update"),
)
_LONGEST_S = 120.0
"""Waits end when what is waited for happens; nothing is told by how long that takes."""
_LIGHT, _DARK = (
    {"features": [{"name": "prefers-color-scheme", "value": value}]} for value in ("light", "dark")
)


class Browser:
    """One window; `close` ends the processes."""

    def __init__(self) -> None:
        options = ChromeOptions()
        options.binary_location = CHROMIUM or ""
        for argument in _ARGUMENTS:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self._driver = Chrome(options=options, service=Service(DRIVER))

    def close(self) -> None:
        self._driver.quit()

    def open(self, path: Path, width: int = 1280, *, is_dark: bool = False) -> None:
        """Opens a page and forgets what the one before has told the console."""
        self._driver.execute_cdp_cmd("Emulation.setEmulatedMedia", _DARK if is_dark else _LIGHT)
        self.resize(width)
        self._driver.get(path.as_uri())
        self._wait()
        self.messages()

    def resize(self, width: int) -> None:
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self._driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def reload(self) -> list[str]:
        """Loads the page again; what it told the console."""
        self._driver.refresh()
        self._wait()
        return self.messages()

    def _wait(self) -> None:
        """Returns when the charts are drawn."""
        self._driver.set_script_timeout(_LONGEST_S)
        self._driver.execute_async_script("Charts.ready.then(arguments[0], arguments[0])")

    def messages(self) -> list[str]:
        """Errors and warnings of the console since the last call."""
        driver: Any = self._driver  # whose logs have no types
        return [str(item["message"]) for item in driver.get_log("browser")]

    def evaluate(self, script: str, *values: object) -> Any:
        """The value that `return ...` of a script gives."""
        return self._driver.execute_script(script, *values)

    def click(self, selector: str) -> None:
        element = self._driver.find_element(By.CSS_SELECTOR, selector)
        self.evaluate("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def press(self, selector: str, *keys: str) -> None:
        """Focuses what is selected, then types keys to what has the focus."""
        self.evaluate("document.querySelector(arguments[0]).focus()", selector)
        for key in keys:
            self._driver.switch_to.active_element.send_keys(key)

    def hover(self, selector: str, *, shows: str) -> str:
        """Points at what is selected until `shows` is there; its text."""
        element = self._driver.find_element(By.CSS_SELECTOR, selector)
        self.evaluate("arguments[0].scrollIntoView({block: 'center'})", element)

        def text(_driver: object) -> str:
            ActionChains(self._driver).move_to_element(element).perform()
            found = self._driver.find_elements(By.CSS_SELECTOR, shows)
            return " ".join(str(item.text) for item in found)

        return str(WebDriverWait(self._driver, _LONGEST_S).until(text))

    def texts(self, selector: str) -> list[str]:
        """The texts of all that is selected, as they are seen."""
        return [str(item.text) for item in self._driver.find_elements(By.CSS_SELECTOR, selector)]

    def picture(self, selector: str) -> npt.NDArray[np.float64]:
        """What is selected, pixels by rows, channels from 0 to 1."""
        box = self.evaluate(
            "const r = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return [r.left + scrollX, r.top + scrollY, r.width, r.height]",
            selector,
        )
        clip = {**dict(zip(("x", "y", "width", "height"), box, strict=True)), "scale": 1}
        asked = {"captureBeyondViewport": True, "clip": clip}
        shot = self._driver.execute_cdp_cmd("Page.captureScreenshot", asked)
        return np.asarray(matplotlib.image.imread(io.BytesIO(base64.b64decode(shot["data"]))))
