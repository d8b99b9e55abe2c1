import { randomBytes } from 'node:crypto';

/** A network fault. Sizes in bytes, times in milliseconds. */
export type Toxic = (
  | { readonly type: 'latency'; readonly latencyMs: number }
  | { readonly type: 'bandwidth'; readonly bytesPerSecond: number }
  /**
   * No byte passes, and the connection ends after that time; where it is 0, only when a side ends it. A black hole is
   * this in both directions.
   */
  | { readonly type: 'timeout'; readonly afterMs: number }
  | { readonly type: 'reset_peer'; readonly afterMs: number }
  /** The connection is closed after this many bytes. */
  | { readonly type: 'limit_data'; readonly bytes: number }
) & {
  /** Default `downstream`: from the server to the client. */
  readonly direction?: 'upstream' | 'downstream' | 'both';
};

/** A proxy with network faults. It exists until it is removed. */
export interface ToxicProxy {
  /** `host:port`. It does not change while the proxy is down. */
  readonly address: string;
  readonly port: number;
  /** Resets open connections and refuses new ones. */
  disable(): Promise<void>;
  enable(): Promise<void>;
  /** Adds a toxic, which also affects open connections. */
  toxic(toxic: Toxic): Promise<void>;
  /** Removes all toxics. */
  clear(): Promise<void>;
  remove(): Promise<void>;
}

interface Toxiproxy {
  /**
   * @param name for the eye; made one's own
   * @param upstream `host:port`
   */
  proxy(name: string, upstream: string): Promise<ToxicProxy>;
}

/** The Toxiproxy of the distributed test run. */
export function toxiproxy(url: string | undefined = process.env['TEST_TOXIPROXY_URL']): Toxiproxy {
  if (url === undefined) throw new Error('TEST_TOXIPROXY_URL is not set; npm run test:distributed sets it.');

  async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(new URL(path, url), {
      method,
      // Toxiproxy refuses browsers, which it recognises by their user agent.
      headers: { 'user-agent': 'call-analysis-tests' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // Toxiproxy first sends the bytes that a slow link has buffered.
      signal: AbortSignal.timeout(60_000),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`Toxiproxy answered ${response.status} to ${method} ${path}: ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  return {
    async proxy(name, upstream) {
      const own = `${name}-${process.pid}-${randomBytes(4).toString('hex')}`;
      const made = { name: own, listen: '127.0.0.1:0', upstream, enabled: true };
      const { listen: address } = await ask<{ listen: string }>('POST', '/proxies', made);
      const path = `/proxies/${own}`;
      // Without its address it would get another one.
      const put = (enabled: boolean) => ask<void>('POST', path, { listen: address, upstream, enabled });
      return {
        address,
        port: Number(address.slice(address.lastIndexOf(':') + 1)),
        disable: () => put(false),
        enable: () => put(true),
        async toxic(toxic) {
          const { type, attributes } = toxiproxyToxic(toxic);
          const streams = toxic.direction === 'both' ? ['upstream', 'downstream'] : [toxic.direction ?? 'downstream'];
          for (const stream of streams) {
            await ask('POST', `${path}/toxics`, {
              name: `${type}-${randomBytes(4).toString('hex')}`,
              type,
              stream,
              attributes,
            });
          }
        },
        async clear() {
          const toxics = await ask<{ name: string }[]>('GET', `${path}/toxics`);
          for (const toxic of toxics) await ask('DELETE', `${path}/toxics/${toxic.name}`);
        },
        remove: () => ask('DELETE', path),
      };
    },
  };
}

function toxiproxyToxic(toxic: Toxic): { type: Toxic['type']; attributes: Record<string, number> } {
  const { type } = toxic;
  switch (type) {
    case 'latency':
      return { type, attributes: { latency: toxic.latencyMs } };
    case 'bandwidth':
      return { type, attributes: { rate: Math.max(1, Math.round(toxic.bytesPerSecond / 1000)) } };
    case 'timeout':
    case 'reset_peer':
      return { type, attributes: { timeout: toxic.afterMs } };
    case 'limit_data':
      return { type, attributes: { bytes: toxic.bytes } };
  }
}
