/* Prints the compute capabilities that an NVRTC knows: nvrtc_knows libnvrtc.so (config/CompoundDeviceCode.cmake). */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** names) {
  void* library = count == 2 ? dlopen(names[1], RTLD_NOW) : NULL;
  int (*number)(int*), (*list)(int*), all[128], n = 0, i;
  if (!library) {
    puts(count == 2 ? dlerror() : "one argument is expected");
    return 1;
  }
  *(void**)&number = dlsym(library, "nvrtcGetNumSupportedArchs");
  *(void**)&list = dlsym(library, "nvrtcGetSupportedArchs");
  if (!number || !list || number(&n) || n < 1 || n > 128 || list(all)) {
    puts("it does not say which capabilities it knows");
    return 1;
  }
  for (i = 0; i < n; ++i) printf("%d ", all[i]);
  return 0;
}
