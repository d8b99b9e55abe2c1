import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { containerRunner } from '../containers.ts';
import { ownServer, type OwnServer, type Runner } from '../own-server.ts';
import { freePort } from '../ports.ts';
import { makeDirectory, processRunner } from '../process.ts';
import { type Environment, goProgram, toxiproxy } from '../programs.ts';
import { type Place, start } from '../ways.ts';

export interface ToxiproxyServer extends OwnServer {
  /** Of its HTTP API. */
  readonly url: string;
  /** A container or a program of this machine, in words. */
  readonly how: string;
}

const image = `ghcr.io/shopify/toxiproxy:${toxiproxy.version.replace('v', '')}`;

export async function startToxiproxy(place: Place = {}): Promise<ToxiproxyServer> {
  return start(
    { name: 'Toxiproxy', variable: 'TEST_TOXIPROXY_URL', needs: ['go'], image, inContainer, asProgram },
    place,
  );
}

async function asProgram(env: Environment): Promise<Omit<ToxiproxyServer, 'how'>> {
  const program = await goProgram(toxiproxy, env);
  const directory = await makeDirectory('toxiproxy');
  try {
    const port = await freePort();
    const config = join(directory, 'proxies.json');
    await writeFile(config, '[]');
    const args = ['-host', '127.0.0.1', '-port', String(port), '-config', config];
    return await serve(port, processRunner({ directory, command: program, args, env: { LOG_LEVEL: 'error' } }));
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

/** On this machine's network: what it stands before listens on loopback, and so must it. */
async function inContainer(): Promise<Omit<ToxiproxyServer, 'how'>> {
  const port = await freePort();
  const command = ['-host', '127.0.0.1', '-port', String(port)];
  return serve(port, containerRunner({ image, sharesNetwork: true, command, env: { LOG_LEVEL: 'error' } }));
}

async function serve(port: number, runner: Runner): Promise<Omit<ToxiproxyServer, 'how'>> {
  const url = `http://127.0.0.1:${port}`;
  const answers = async () => (await fetch(`${url}/version`, { signal: AbortSignal.timeout(2_000) })).ok;
  return Object.assign(await ownServer('Toxiproxy', runner, answers), { url });
}
