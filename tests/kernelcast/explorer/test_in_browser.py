"""The page in headless Chromium: it estimates, colours, keeps its state in the address."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from tests.kernelcast.explorer.conftest import LONG_S, Explorer

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("Chromium and its driver are not installed")
    options = ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


def until_status(browser: Chrome, text: str) -> None:
    WebDriverWait(browser, LONG_S).until(
        lambda driver: text in driver.find_element(By.ID, "status").text
    )


@pytest.mark.usefixtures("nvrtc")
def test_the_page(browser: Chrome, explorer: Explorer) -> None:
    browser.get(explorer.address)
    until_status(browser, "saxpy")
    rows = browser.find_elements(By.CSS_SELECTOR, "#estimates tbody tr")
    assert [row.text.split()[0] for row in rows] == ["a100-40gb", "h100-sxm"]
    roofline = browser.find_element(By.ID, "roofline")
    assert roofline.is_displayed()
    labels = [item.text for item in roofline.find_elements(By.TAG_NAME, "text")]
    assert "a100-40gb: 19.5 T" in labels  # the datasheet's peak
    lit = browser.find_elements(By.CSS_SELECTOR, "#listing span[data-line]")
    line, colour = lit[0].get_attribute("data-line"), lit[0].get_attribute("class")
    row = browser.find_element(By.CSS_SELECTOR, f'#lines div[data-line="{line}"]')
    assert row.get_attribute("class") == colour
    inputs = browser.find_elements(By.CSS_SELECTOR, "#arguments label")
    assert [item.text for item in inputs] == ["n", "a", "x", "y"]

    source = browser.find_element(By.ID, "source")
    source.clear()
    source.send_keys('extern "C" __global__ void <b>bold</b>')
    until_status(browser, "bold")  # the compiler's message, as text
    assert not browser.find_elements(By.CSS_SELECTOR, "#status b")

    source.clear()
    source.send_keys('extern "C" __global__ void other(float *x) { x[threadIdx.x] = 1; }')
    browser.find_element(By.ID, "guess").click()
    until_status(browser, "other: ")
    address = browser.current_url
    assert "#" in address
    browser.get("about:blank")
    browser.get(address)
    until_status(browser, "other: ")
    assert "other" in str(browser.find_element(By.ID, "source").get_property("value"))
    logged: Any = browser
    errors = [item for item in logged.get_log("browser") if item["level"] == "SEVERE"]
    assert [item for item in errors if "favicon" not in item["message"]] == []
