import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy on loopback that can simulate a failing network. */
export interface TcpProxy {
  readonly port: number;
  /** Resets all open connections and every new one. */
  cut(): void;
  /** Stops passing bytes in both directions, without closing connections. Held bytes are passed on after `heal`. */
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
    near.on('close', () => closeOther(pair, pair.far));
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
    far.on('close', () => closeOther(pair, near));
    near.pipe(far);
    far.pipe(near);
  }

  function drop(pair: Pair): void {
    if (!pairs.delete(pair)) return;
    pair.near.resetAndDestroy();
    pair.far?.resetAndDestroy();
  }

  /** One side has closed properly. The other side is closed when its buffer has been written. */
  function closeOther(pair: Pair, other: Socket | null): void {
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
      const wasBlackhole = state === 'blackhole';
      state = 'open';
      if (!wasBlackhole) return;
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
