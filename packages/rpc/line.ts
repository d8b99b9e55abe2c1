import { lookup } from 'node:dns/promises';
import { type ChannelOptions, Client as GrpcClient, connectivityState } from '@grpc/grpc-js';
import { CONNECTION_OPTIONS } from './connection.ts';
import { neighbourAt } from './neighbour.ts';
import { channelCredentials, type Tls } from './tls.ts';
import type { Transport } from './transport.ts';

const OPTIONS: ChannelOptions = {
  ...CONNECTION_OPTIONS,
  // A service that was restarted is found again within half a second: see RECONNECT_MS.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 500,
  'grpc.dns_min_time_between_resolutions_ms': 1000,
  // A name stands for all its addresses, and each call goes to the next one that is connected.
  'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  'grpc.service_config_disable_resolution': 1,
  // Connections of one's own, which can be given up without breaking another's.
  'grpc.use_local_subchannel_pool': 1,
  // A proxy from the environment is meant for the outside world.
  'grpc.enable_http_proxy': 0,
};

/** A connection that is not made within this time is begun anew: grpc-js and the kernel would wait for minutes. */
const CONNECT_MS = 1500;
/** A name that takes longer is what holds things up; asking for it once more would only make a queue. */
const PROMPT_LOOKUP_MS = 500;

/** The way to the servers behind an address; connects with the first call and again whenever needed. */
export class Line {
  readonly #address: string;
  readonly #tls: Tls | undefined;
  #client: GrpcClient;
  #isWatched = false;
  #isClosed = false;

  constructor(address: string, tls: Tls | undefined) {
    this.#address = address;
    this.#tls = tls;
    this.#client = this.#newClient();
  }

  /** Asked for each try: a server may begin and end in this process, and a client may have been replaced. */
  transport(): Transport {
    const neighbour = this.#tls === undefined ? neighbourAt(this.#address) : undefined;
    if (neighbour !== undefined) return neighbour;
    if (!this.#isClosed && !this.#isWatched) this.#watch();
    return this.#client;
  }

  /** Resolves when a server is connected, else when the time has passed or nobody waits any more. */
  async connected(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const until = Date.now() + ms;
    for (;;) {
      if (this.#isClosed || signal?.aborted === true || Date.now() >= until) return;
      const channel = this.#client.getChannel();
      const state = channel.getConnectivityState(true);
      if (state === connectivityState.READY || state === connectivityState.SHUTDOWN) return;
      await new Promise<void>((resolve) => {
        const end = () => resolve();
        signal?.addEventListener('abort', end, { once: true });
        channel.watchConnectivityState(state, until, () => {
          signal?.removeEventListener('abort', end);
          resolve();
        });
      });
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#client.close();
  }

  #newClient(): GrpcClient {
    return new GrpcClient(target(this.#address), channelCredentials(this.#tls), OPTIONS);
  }

  /** Until there is a connection, or none can be had. */
  #watch(): void {
    if (this.#isClosed) return;
    const channel = this.#client.getChannel();
    const state = channel.getConnectivityState(true);
    this.#isWatched = state === connectivityState.IDLE || state === connectivityState.CONNECTING;
    if (!this.#isWatched) return;
    channel.watchConnectivityState(state, Date.now() + CONNECT_MS, (late) => {
      if (this.#isClosed) this.#isWatched = false;
      else if (late === undefined || state === connectivityState.IDLE) this.#watch();
      else void this.#replace().then(() => this.#watch());
    });
  }

  /** Calls that wait for the connection end as never sent, and are made again on the new one. */
  async #replace(): Promise<void> {
    const host = hostOf(this.#address);
    if (host !== undefined) {
      const mark = performance.now();
      await lookup(host).catch(() => {});
      if (performance.now() - mark > PROMPT_LOOKUP_MS) return;
    }
    if (this.#isClosed) return;
    const stuck = this.#client;
    this.#client = this.#newClient();
    stuck.close();
  }
}

/** As grpc-js has it: with its own DNS for `host:port`. */
function target(address: string): string {
  return /^(unix|unix-abstract|dns|ipv4|ipv6):/.test(address) ? address : `dns:///${address}`;
}

/** The name that has to be looked up, if any. */
function hostOf(address: string): string | undefined {
  return /^(?:dns:(?:\/\/\/)?)?([a-z_][\w.-]*):\d+$/i.exec(address)?.[1];
}
