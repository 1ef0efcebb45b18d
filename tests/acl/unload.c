/* Loads the library by name, uses it, closes it, and loads it again; plain C. */
#include <acl/acl.h>
#include <dlfcn.h>
#include <stdio.h>

static int lines, failures;

static void ok(int passed, const char *name) {
  printf("%s %d - %s\n", passed ? "ok" : "not ok", ++lines, name);
  failures += !passed;
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  for (int round = 0; round < 2; ++round) {
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    ok(library != NULL, "dlopen");
    if (library == NULL) break;
    aclError (*init)(const char *) = (aclError(*)(const char *))dlsym(library, "aclInit");
    aclError (*finalize)(void) = (aclError(*)(void))dlsym(library, "aclFinalize");
    aclError (*set)(int32_t) = (aclError(*)(int32_t))dlsym(library, "aclrtSetDevice");
    aclError (*launch)(aclrtStream, aclrtHostFunc, void *) =
        (aclError(*)(aclrtStream, aclrtHostFunc, void *))dlsym(library, "aclrtLaunchHostFunc");
    aclError (*synchronize)(aclrtStream) =
        (aclError(*)(aclrtStream))dlsym(library, "aclrtSynchronizeStream");
    ok(init && finalize && set && launch && synchronize, "dlsym");
    ok(init(NULL) == 0 && set(0) == 0, "init");
    ok(launch(NULL, (aclrtHostFunc)perror, "called") == 0 && synchronize(NULL) == 0,
       "a worker ran");
    if (round == 1) ok(finalize() == 0, "finalize");
    if (round == 0) ok(finalize() == 0 && synchronize(NULL) == 0, "finalize, then still usable");
    ok(dlclose(library) == 0, "dlclose with threads behind");
  }
  printf("1..%d\n", lines);
  return failures != 0;
}
