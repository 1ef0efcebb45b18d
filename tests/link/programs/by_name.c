/* Opens one library by its bare name and looks names up in it:
 *   by_name LIBRARY NAME...    prints each name with "found" or "absent" */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  void *library = argc > 1 ? dlopen(argv[1], RTLD_LAZY) : NULL;
  if (library == NULL) {
    printf("%s\n", argc > 1 ? dlerror() : "no library given");
    return 1;
  }
  for (int i = 2; i < argc; ++i) {
    printf("%s %s\n", argv[i], dlsym(library, argv[i]) != NULL ? "found" : "absent");
  }
  return 0;
}
