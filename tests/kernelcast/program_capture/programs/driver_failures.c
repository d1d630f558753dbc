/* What a program is told that does something wrong, or something that is not supported. */
#include "driver.h"

int main(int count, char **words) {
  EXPECT(count == 2);
  object module, link, function;
  started();
  object known = loaded(words[1], "scaled");
  void *arguments[] = {&known, &known, &count};
  char log[64] = "untouched", handle[64];
  const int options[] = {5, 6};
  void *values[] = {log, (void *)sizeof log};
  EXPECT(cuModuleLoadDataEx(&module, "no PTX at all", 2, options, values) != 0);
  EXPECT(!*log);
  EXPECT(cuLaunchKernel(known, 1, 1, 1, 2048, 1, 1, 0, NULL, arguments, NULL) == 1);
  EXPECT(cuLaunchKernel(known, 1, 70000, 1, 32, 1, 1, 0, NULL, arguments, NULL) == 1);
  EXPECT(cuLaunchKernel(known, 1, 1, 1, 32, 1, 1, 1 << 20, NULL, arguments, NULL) == 1);
  EXPECT(cuModuleGetFunction(&function, NULL, "scaled") == 400);
  CHECK(cuLinkCreate_v2(0, NULL, NULL, &link));
  EXPECT(cuLinkAddData_v2(link, 4, handle, sizeof handle, "a library", 0, NULL, NULL) == 801);
  EXPECT(cuIpcGetMemHandle(handle, 0) == 801);
  puts("all right");
  return 0;
}
