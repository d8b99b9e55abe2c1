import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { CliError, exitCodes } from './exit-codes.ts';

/** Where the service is and what identifies the caller. */
export interface Profile {
  readonly url: string;
  readonly token?: string;
  readonly apiKey?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_URL = 'http://127.0.0.1:8080';

function profileFile(environment: Environment): string {
  const { CALL_ANALYSIS_CONFIG: file, XDG_CONFIG_HOME: xdg, APPDATA: windows } = environment;
  const folder = xdg || (process.platform === 'win32' && windows) || join(homedir(), '.config');
  return file || join(folder, 'call-analysis', 'profiles.json');
}

/** The profile of this name, under what the environment sets. */
export async function readProfile(environment: Environment, name: string): Promise<Profile> {
  const stored = (await readAll(profileFile(environment)))[name];
  const { CALL_ANALYSIS_URL: url, CALL_ANALYSIS_TOKEN: token, CALL_ANALYSIS_API_KEY: apiKey } = environment;
  // If the environment identifies the caller, the profile's token is ignored: it may be another user's.
  const credentials = token || apiKey ? { ...(token && { token }), ...(apiKey && { apiKey }) } : stored;
  return { ...credentials, url: url || stored?.url || DEFAULT_URL };
}

/** Adds a profile, or replaces it. Only the user can read the file. */
export async function saveProfile(environment: Environment, name: string, profile: Profile): Promise<string> {
  const file = profileFile(environment);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const all = { ...(await readAll(file)), [name]: profile };
  const fresh = `${file}.${process.pid}`;
  await writeFile(fresh, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 });
  await chmod(fresh, 0o600);
  await rename(fresh, file);
  return file;
}

async function readAll(file: string): Promise<Record<string, Profile>> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
  try {
    return JSON.parse(text) as Record<string, Profile>;
  } catch {
    throw new CliError(
      exitCodes.failed,
      `${file} is not JSON. Remove it and sign in again with \`call-analysis login\`.`,
    );
  }
}
