import { dialAdministration } from '../../standalone/admin/administration.ts';
import { readRemote } from '../../standalone/config.ts';
import { type KillableSystem, startKillableSystem } from './killable-system.ts';
import { type Links, openLinks } from './links.ts';
import type { DistributedSystem } from './system.ts';

/** Every link leads through a proxy that can cause faults. */
export interface FaultySystem extends KillableSystem {
  readonly links: Links;
  /** The URL of the gateway through the link `client → gateway`. */
  readonly gatewayLink: string;
  newFirm(): Promise<string>;
  /** A new user of the firm, who is in no cache. */
  newUser(firmUuid: string, role?: 'ADMIN' | 'SUPERUSER'): Promise<{ token: string }>;
}

const DRAIN = '1s';

export async function startFaultySystem(): Promise<FaultySystem> {
  const links = await openLinks();
  const world = await startKillableSystem({
    link: links.link,
    advertise: (address) => links.name('services → kafka', address),
    variables: {
      all: { ...links.variables, DRAIN, LOG_LEVEL: 'error' },
      // The test acts as load balancer and may stall for some seconds, and uploads may be long.
      gateway: { RATE_LIMIT_PER_FIRM: '0', RATE_LIMIT_PER_ADDRESS: '0', DRAIN: '5s', CLOSE_TIMEOUT: '100s' },
      transcription: { SPEECH_COMMAND: JSON.stringify(['/bin/echo', 'Good morning, how can I help you?']) },
    },
  }).catch(async (error: unknown) => {
    await links.close();
    throw error;
  });
  const { system } = world;
  return {
    ...world,
    links,
    gatewayLink: `http://${await links.address('client → gateway', new URL(system.url).host)}`,
    newFirm: () =>
      administer(
        system,
        async (admin) => (await admin.createFirm({ name: 'Test', country: 'UZ', segmentTypes: ['support'] })).uuid,
      ),
    newUser: (firm, role = 'ADMIN') =>
      administer(system, async (admin) => {
        const user = await admin.createUser({ firm, name: 'Test', role });
        return { token: (await admin.issueToken(user.uuid, 12 * 3_600_000)).token };
      }),
    async stop() {
      await world.stop();
      await links.close();
    },
  };
}

async function administer<Result>(
  system: DistributedSystem,
  work: (admin: ReturnType<typeof dialAdministration>) => Promise<Result>,
): Promise<Result> {
  const { address, jwt } = readRemote(system.administration)!;
  const admin = dialAdministration(address, { jwt }, undefined);
  try {
    return await work(admin);
  } finally {
    admin.close();
  }
}
