import { hasEngine } from './containers.ts';
import type { OwnServer } from './own-server.ts';
import { type Environment, ProgramMissing } from './programs.ts';

interface Ways<T> {
  /** The server's name, and the variable that can name a running one. */
  readonly name: string;
  readonly variable: string;
  /** The programs needed to run it without containers. */
  readonly needs: readonly string[];
  readonly image: string;
  inContainer(): Promise<T>;
  asProgram(env: Environment): Promise<T>;
}

export interface Machine {
  /** Default: the environment of the process, with PATH, HOME, XDG_CACHE_HOME and the address of a container engine. */
  readonly env?: Environment;
  /** Whether a container engine answers. By default this is checked. */
  readonly engine?: boolean;
}

/** Starts a server in a container if an engine answers, else from programs of this machine, and returns which. */
export async function start<T extends OwnServer>(
  ways: Ways<T>,
  machine: Machine = {},
): Promise<T & { readonly how: string }> {
  const { env = process.env } = machine;
  let refused = '';
  if (machine.engine ?? (await hasEngine(env))) {
    try {
      return withHow(await ways.inContainer(), `container ${ways.image}`);
    } catch (error) {
      refused = ` (the engine that answers did not start ${ways.image}: ${error instanceof Error ? error.message : String(error)})`;
    }
  }
  try {
    return withHow(await ways.asProgram(env), `a program of this machine${refused}`);
  } catch (error) {
    if (!(error instanceof ProgramMissing)) throw error;
    throw new Error(
      `The tests need ${ways.name}: name one that runs in ${ways.variable}, or start a container engine${refused}, ` +
        `or install ${ways.needs.join(' and ')} on this machine (${error.message} is not in PATH).`,
      { cause: error },
    );
  }
}

/** Changes the server itself, because a copy would replace its getters by values. */
function withHow<T extends OwnServer>(server: T, how: string): T & { readonly how: string } {
  return Object.assign(server, { how });
}
