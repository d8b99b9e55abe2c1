import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy on loopback that can be told to behave like a bad network. */
export interface TcpProxy {
  readonly port: number;
  /** Resets the connections there are, and every new one. */
  cut(): void;
  /** Swallows whatever is sent, in both directions, without a word; what waits is passed on when healed. */
  blackhole(): void;
  /** Passes everything again. */
  heal(): void;
  close(): Promise<void>;
}

interface Pair {
  readonly near: Socket;
  far: Socket | null;
}

export async function openTcpProxy(target: { readonly host?: string; readonly port: number }): Promise<TcpProxy> {
  let state: 'open' | 'cut' | 'blackhole' = 'open';
  const pairs = new Set<Pair>();

  const server = createServer({ allowHalfOpen: true }, (near) => {
    if (state === 'cut') {
      near.on('error', () => {});
      near.resetAndDestroy();
      return;
    }
    const pair: Pair = { near, far: null };
    pairs.add(pair);
    near.on('error', () => drop(pair));
    near.on('close', () => leave(pair, pair.far));
    near.pause();
    if (state === 'open') join(pair);
  });

  function join(pair: Pair): void {
    const { near } = pair;
    const far = connect({ host: target.host ?? '127.0.0.1', port: target.port, allowHalfOpen: true });
    pair.far = far;
    far.setNoDelay(true);
    near.setNoDelay(true);
    far.on('error', () => drop(pair));
    far.on('close', () => leave(pair, near));
    near.pipe(far);
    far.pipe(near);
  }

  function drop(pair: Pair): void {
    if (!pairs.delete(pair)) return;
    pair.near.resetAndDestroy();
    pair.far?.resetAndDestroy();
  }

  /** One side has closed in order: the other one follows when it has written what it still holds. */
  function leave(pair: Pair, other: Socket | null): void {
    if (other === null || other.destroyed) pairs.delete(pair);
    else other.destroySoon();
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });

  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      state = 'cut';
      for (const pair of pairs) drop(pair);
    },
    blackhole() {
      state = 'blackhole';
      for (const { near, far } of pairs) {
        if (far === null) continue;
        near.unpipe(far).pause();
        far.unpipe(near).pause();
      }
    },
    heal() {
      const wasDark = state === 'blackhole';
      state = 'open';
      if (!wasDark) return;
      for (const pair of pairs) {
        if (pair.far === null) {
          join(pair);
        } else {
          pair.near.pipe(pair.far);
          pair.far.pipe(pair.near);
        }
      }
    },
    close() {
      for (const pair of pairs) drop(pair);
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
