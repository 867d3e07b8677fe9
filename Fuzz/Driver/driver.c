// What libFuzzer calls. The target is the value of --target=NAME; libFuzzer passes over options with two dashes.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int chime_fuzz_choose(const char *name);
void chime_fuzz_input(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *count, char ***arguments) {
  for (int i = 1; i < *count; i++)
    if (strncmp((*arguments)[i], "--target=", 9) == 0 && chime_fuzz_choose((*arguments)[i] + 9)) return 0;
  fputs("chime-fuzz --target=NAME [libFuzzer's options]\n", stderr);
  exit(64);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  chime_fuzz_input(data, size);
  return 0;
}
