import type { JestEnvironment, JestEnvironmentConfig } from '@jest/environment';
import { LegacyFakeTimers, ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

/**
 * The globals of the process, not of a context of their own: modules that Node's loader loads have no others. What Jest and a
 * test file change in them is put back after the file.
 */
export default class ProcessEnvironment implements JestEnvironment<ReturnType<typeof setTimeout>> {
  readonly global = globalThis as unknown as JestEnvironment['global'];
  readonly moduleMocker = new ModuleMocker(this.global);
  readonly fakeTimers: LegacyFakeTimers<ReturnType<typeof setTimeout>>;
  readonly fakeTimersModern: ModernFakeTimers;
  readonly #restore = rememberGlobals();

  constructor({ projectConfig: config }: JestEnvironmentConfig) {
    const timerConfig = { idToRef: (id: number) => id as never, refToId: Number };
    this.fakeTimers = new LegacyFakeTimers({
      config,
      global: globalThis,
      moduleMocker: this.moduleMocker,
      timerConfig,
    });
    this.fakeTimersModern = new ModernFakeTimers({ config, global: globalThis });
  }

  async setup(): Promise<void> {}

  async teardown(): Promise<void> {
    this.fakeTimers.dispose();
    this.fakeTimersModern.dispose();
    this.#restore();
  }

  /** Only coverage by V8 asks for one. */
  getVmContext(): null {
    return null;
  }
}

function rememberGlobals(): () => void {
  const { console } = globalThis;
  const { env, exit, getBuiltinModule } = process;
  const variables = { ...env };
  const directory = process.cwd();
  const symbols = new Set(Object.getOwnPropertySymbols(globalThis));
  return () => {
    globalThis.console = console;
    Object.assign(process, { exit, getBuiltinModule });
    for (const name of Object.keys(env)) if (!(name in variables)) delete env[name];
    Object.assign(env, variables);
    process.chdir(directory);
    // Jest keeps the state of a test file, and with it everything its tests refer to, under symbols.
    for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
      if (!symbols.has(symbol) && JEST_SYMBOLS.test(symbol.description ?? ''))
        Reflect.deleteProperty(globalThis, symbol);
    }
  };
}
const JEST_SYMBOLS = /^(JEST_|EVENT_HANDLERS$|TEST_TIMEOUT_SYMBOL$|RETRY_|LOG_ERRORS_BEFORE_RETRY$|WAIT_BEFORE_RETRY$)/;
