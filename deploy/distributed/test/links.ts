import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ToxicProxy, toxiproxy } from '@call-analysis/testing/servers';
import { type Edge, EDGES, type Fault } from './failures/promises.ts';
import type { Part, ServiceName } from './system.ts';

const names = new URL('./service-names.ts', import.meta.url).href;
const lostNames = new URL('./unresolvable-names.ts', import.meta.url).href;

/** The links between the parts of a system: one proxy for each, which can cause faults. */
export interface Links {
  /** For `startSystem`. After `bypass`, new processes reach other services directly. */
  link(from: ServiceName, to: Part, address: string): Promise<string>;
  /** The variables that processes need so that `no name` works. */
  readonly variables: Readonly<Record<string, string>>;
  /** The address of the link's proxy, for clients outside the system. */
  address(edge: Edge, upstream: string): Promise<string>;
  /** The same by name, for processes of the system, where `no name` is possible. */
  name(edge: Edge, upstream: string): Promise<string>;
  spoil(edge: Edge, fault: Fault): Promise<void>;
  heal(edge: Edge): Promise<void>;
  bypass(): void;
  close(): Promise<void>;
}

interface Way {
  readonly proxy: ToxicProxy;
  readonly name: string;
}

export async function openLinks(): Promise<Links> {
  const directory = await mkdtemp(join(tmpdir(), 'call-analysis-links-'));
  const file = join(directory, 'lost.json');
  const ways = new Map<Edge, Promise<Way>>();
  const lost = new Set<string>();
  let isBypassed = false;

  // Renamed, because processes read it at any moment: a lookup that throws leaves their connection half made for ever.
  const writeLostNames = async () => {
    await writeFile(`${file}.new`, JSON.stringify([...lost]));
    await rename(`${file}.new`, file);
  };
  await writeLostNames();

  function way(edge: Edge, upstream: string): Promise<Way> {
    const known = ways.get(edge);
    if (known !== undefined) return known;
    const made = toxiproxy()
      .proxy(edge.replaceAll(' ', '-'), upstream)
      .then((proxy) => ({ proxy, name: `${edge.replaceAll(/\W+/g, '-')}.link` }));
    ways.set(edge, made);
    return made;
  }

  async function existing(edge: Edge): Promise<Way> {
    const found = ways.get(edge);
    if (found === undefined) throw new Error(`No process uses ${edge}.`);
    return found;
  }

  return {
    variables: { NODE_OPTIONS: `--import=${names} --import=${lostNames}`, LOST_NAMES: file },
    async link(from, to, address) {
      const edge = edgeOf(from, to);
      const isRpc = address.includes('.test:');
      if (edge === undefined || (isRpc && isBypassed)) return address;
      // The proxy cannot resolve the names. The first process of each service is on 127.0.0.1.
      const { proxy, name } = await way(edge, isRpc ? `127.0.0.1:${address.split(':')[1]}` : address);
      // Clients are not processes of the system and do not resolve names.
      return edge === 'client → store' ? proxy.address : `${name}:${proxy.port}`;
    },
    address: async (edge, upstream) => (await way(edge, upstream)).proxy.address,
    async name(edge, upstream) {
      const { proxy, name } = await way(edge, upstream);
      return `${name}:${proxy.port}`;
    },
    async spoil(edge, fault) {
      const { proxy, name } = await existing(edge);
      switch (fault) {
        case 'refused':
          return proxy.disable();
        case 'black hole':
          return proxy.toxic({ type: 'timeout', afterMs: 0, direction: 'both' });
        case 'reset':
          return proxy.toxic({ type: 'reset_peer', afterMs: 100, direction: 'both' });
        case 'slow':
          return proxy.toxic({ type: 'latency', latencyMs: 2000 });
        case 'narrow':
          return proxy.toxic({ type: 'bandwidth', bytesPerSecond: 1000, direction: 'both' });
        case 'half-open':
          // Requests arrive and are processed; responses do not come back.
          return proxy.toxic({ type: 'timeout', afterMs: 0, direction: 'downstream' });
        case 'no name':
          lost.add(name);
          await writeLostNames();
          // Open connections do not need the name, so they are reset.
          await proxy.disable();
          return proxy.enable();
      }
    },
    async heal(edge) {
      const { proxy, name } = await existing(edge);
      if (lost.delete(name)) await writeLostNames();
      await proxy.clear();
      await proxy.enable();
    },
    bypass() {
      isBypassed = true;
    },
    async close() {
      for (const each of ways.values()) await (await each).proxy.remove().catch(() => {});
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Undefined when there is no such link. */
function edgeOf(from: ServiceName, to: Part): Edge | undefined {
  if (to === 'database') return EDGES.find((edge) => edge === `${from} → database`) ?? 'others → database';
  if (to === 'store') return 'services → store';
  if (to === 'clients-store') return 'client → store';
  // The broker advertises the proxy's address to its clients: see `advertise` of startKafka.
  if (to === 'kafka') return undefined;
  return EDGES.find((edge) => edge === `${from} → ${to}`);
}
