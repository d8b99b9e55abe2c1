/**
 * The part of the environment that a test's process needs. The developer's own settings are left out, because they may
 * name a database that is in use.
 */
export function bareEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE };
}
