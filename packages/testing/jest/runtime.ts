import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import type jestRuntime from 'jest-runtime';
import { setGlobals } from './globals.ts';

type Globals = Parameters<typeof setGlobals>[0];

const require = createRequire(import.meta.url);
const { default: JestRuntime } = require('jest-runtime') as typeof jestRuntime;
const globalsUrl = new URL('./globals.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals' ? { url: globalsUrl, shortCircuit: true } : next(specifier, context),
});

// When Jest is killed, its workers would finish their files, and the servers of the run are gone. A listener of `disconnect` would keep
// a worker from ending when Jest asks it to.
if (process.connected) setInterval(() => process.connected || process.exit(1), 1_000).unref();

/**
 * Loads test files by Node's own loader. A module is loaded once in a worker, whichever test files import it, where Jest loads
 * every module again for every file. So test files share the state of modules, and `jest.mock` has no effect.
 * docs/decisions/tests-by-node.md has the figures.
 */
class NodeRuntime extends JestRuntime {
  override unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  override async unstable_importModule(path: string): Promise<void> {
    await import(pathToFileURL(path).href);
  }

  override requireModule<Exports>(from: string, name = from): Exports {
    return require(name);
  }

  /** Jest's own modules. Each test file has a new instance of what collects and runs tests. */
  override requireInternalModule<Exports>(path: string): Exports {
    delete require.cache[require.resolve(path)];
    return require(path);
  }

  override setGlobalsForRuntime(
    globals: Parameters<InstanceType<typeof JestRuntime>['setGlobalsForRuntime']>[0],
  ): void {
    super.setGlobalsForRuntime(globals);
    setGlobals(this.requireModuleOrMock<Globals>(import.meta.filename, '@jest/globals'));
  }
}

// Jest requires this file.
export { NodeRuntime as 'module.exports' };
