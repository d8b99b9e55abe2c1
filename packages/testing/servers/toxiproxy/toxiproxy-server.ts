import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { containerRunner } from '../containers.ts';
import { ownServer, type OwnServer, type Runner } from '../own-server.ts';
import { freePort } from '../ports.ts';
import { makeDirectory, processRunner } from '../process.ts';
import { type Environment, goProgram, toxiproxy } from '../programs.ts';
import { type Machine, start } from '../ways.ts';

interface ToxiproxyServer extends OwnServer {
  /** The URL of its HTTP API. */
  readonly url: string;
  /** Whether it is a container or a program of this machine, as text. */
  readonly how: string;
}

const image = `ghcr.io/shopify/toxiproxy:${toxiproxy.version.replace('v', '')}`;

export async function startToxiproxy(place: Machine = {}): Promise<ToxiproxyServer> {
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

/** In this machine's network, because the servers behind it listen on loopback. */
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
