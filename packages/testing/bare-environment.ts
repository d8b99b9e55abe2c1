/**
 * What a process that a test starts needs of the tester's environment, and none of his own settings, which may name a
 * database that is in use.
 */
export function bareEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE };
}
