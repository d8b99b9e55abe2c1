import { hasEngine } from './containers.ts';
import type { OwnServer } from './own-server.ts';
import { type Environment, ProgramMissing } from './programs.ts';

export interface Ways<T> {
  /** The server's name, and the variable that can name one that runs already. */
  readonly name: string;
  readonly variable: string;
  /** What a person installs to have it without containers. */
  readonly needs: readonly string[];
  readonly image: string;
  inContainer(): Promise<T>;
  asProgram(env: Environment): Promise<T>;
}

export interface Place {
  /** Default the process's own: PATH, HOME, XDG_CACHE_HOME, and where a container engine is. */
  readonly env?: Environment;
  /** Whether a container engine answers; asked of the machine unless said. */
  readonly engine?: boolean;
}

/** Starts it in a container where an engine answers, else from programs of this machine, and says how. */
export async function start<T extends OwnServer>(
  ways: Ways<T>,
  place: Place = {},
): Promise<T & { readonly how: string }> {
  const { env = process.env } = place;
  let refused = '';
  if (place.engine ?? (await hasEngine(env))) {
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

/** Keeps the getters of the server, which a copy would freeze. */
function withHow<T extends OwnServer>(server: T, how: string): T & { readonly how: string } {
  return Object.assign(server, { how });
}
