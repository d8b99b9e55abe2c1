import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { type ChannelOptions, Client as GrpcClient, connectivityState, type ServiceConfig } from '@grpc/grpc-js';
import type { Method } from '../wire/methods.ts';
import { CONNECTION_OPTIONS } from '../wire/options.ts';
import { channelCredentials, type Tls } from '../wire/tls.ts';

const OPTIONS: ChannelOptions = {
  ...CONNECTION_OPTIONS,
  // A service that was restarted is connected again within half a second.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 500,
  'grpc.dns_min_time_between_resolutions_ms': 1000,
  'grpc.service_config_disable_resolution': 1,
  // Connections are not shared between clients, so that one client can be replaced without breaking another.
  'grpc.use_local_subchannel_pool': 1,
  // A proxy in the environment is meant for the outside world.
  'grpc.enable_http_proxy': 0,
};

/**
 * A connection attempt that takes longer is abandoned and started again: grpc-js has no limit, and would wait forever
 * for a server that accepts a connection but never answers. Calls wait this long for a connection.
 */
const CONNECT_MS = 1500;

/**
 * When looking up the name takes longer, DNS is what delays the connection. Another lookup would only add to the queue.
 */
const SLOW_LOOKUP_MS = 500;

/** The connections to the servers of an address. They are made at the first call, and again whenever they are lost. */
export class Connection {
  readonly #address: string;
  readonly #newClient: () => GrpcClient;
  #client: GrpcClient;
  #isStarted = false;
  #isClosed = false;
  #lostAt = Date.now();
  /** Resolves when there is a connection, or when none could be made within CONNECT_MS. */
  #attempt = Promise.withResolvers<void>();

  constructor(address: string, tls: Tls | undefined, methods: readonly Method[]) {
    const options = { ...OPTIONS, 'grpc.service_config': serviceConfig(methods) };
    this.#address = address;
    this.#newClient = () => new GrpcClient(targetOf(address), channelCredentials(tls), options);
    this.#client = this.#newClient();
  }

  /** Whether a server is connected. */
  get isReady(): boolean {
    return this.#client.getChannel().getConnectivityState(false) === connectivityState.READY;
  }

  /** Asked for each call, because the client may have been replaced. */
  get client(): GrpcClient {
    return this.#client;
  }

  /**
   * Waits until a server is connected, until CONNECT_MS have passed since the connection was lost, or until the
   * caller's deadline or signal. In a longer outage it does not wait at all, so that calls fail fast.
   */
  async wait(deadline: number, signal: AbortSignal | undefined): Promise<void> {
    if (!this.#isStarted && !this.#isClosed) {
      this.#isStarted = true;
      this.#lostAt = Date.now();
      this.#watch();
    }
    if (this.isReady) return;
    const late = AbortSignal.timeout(Math.max(0, deadline - Date.now()));
    const givenUp = signal === undefined ? late : AbortSignal.any([signal, late]);
    if (givenUp.aborted) return;
    await Promise.race([this.#attempt.promise, once(givenUp, 'abort')]);
  }

  close(): void {
    this.#isClosed = true;
    this.#client.close();
    this.#attempt.resolve();
  }

  /** Keeps the channel connected: by itself it would stay idle after a loss until the next call. */
  #watch(): void {
    if (this.#isClosed) return;
    const channel = this.#client.getChannel();
    const state = channel.getConnectivityState(true);
    const isReady = state === connectivityState.READY;
    if (isReady) this.#attempt.resolve();
    channel.watchConnectivityState(state, isReady ? Number.POSITIVE_INFINITY : this.#lostAt + CONNECT_MS, (late) => {
      if (this.#isClosed) return;
      if (isReady) {
        this.#attempt = Promise.withResolvers();
        this.#lostAt = Date.now();
      }
      if (late === undefined) {
        this.#watch();
        return;
      }
      void this.#replaceClient().then(() => {
        this.#attempt.resolve();
        this.#lostAt = Date.now();
        this.#watch();
      });
    });
  }

  /** Calls that are queued in the old client fail as unavailable; calls in progress on a server are not touched. */
  async #replaceClient(): Promise<void> {
    const host = hostOf(this.#address);
    if (host !== undefined) {
      const mark = performance.now();
      await lookup(host).catch(() => {});
      if (performance.now() - mark > SLOW_LOOKUP_MS) return;
    }
    if (this.#isClosed || this.isReady) return;
    const old = this.#client;
    this.#client = this.#newClient();
    old.close();
  }
}

/** The address as grpc-js takes it: with its own DNS for `host:port`. */
function targetOf(address: string): string {
  return /^(unix|unix-abstract|dns|ipv4|ipv6):/.test(address) ? address : `dns:///${address}`;
}

/** The host name that has to be looked up, if any. */
function hostOf(address: string): string | undefined {
  return /^(?:dns:(?:\/\/\/)?)?([a-z_][\w.-]*):\d+$/i.exec(address)?.[1];
}

/**
 * How grpc-js balances and repeats calls. It sends a call again by itself when no server has begun it. With a retry
 * policy it also repeats a call that got lost, until the first header of the answer arrives: only methods whose
 * `idempotency_level` allows that have one. Faults come as messages (see status.ts), so they are never retried.
 *
 * A lost call takes one of 1000 tokens and a success gives back half a token. Below 500 tokens nothing is retried, so
 * a service that fails most of its calls is not asked three times as often.
 */
function serviceConfig(methods: readonly Method[]): string {
  const config: Partial<ServiceConfig> = {
    // A name may have several addresses. Each call goes to the next one that is connected.
    loadBalancingConfig: [{ round_robin: {} }],
    retryThrottling: { maxTokens: 1000, tokenRatio: 0.5 },
    methodConfig: [
      {
        name: methods.filter(isIdempotent).map(({ path }) => {
          const [, service = '', method = ''] = path.split('/');
          return { service, method };
        }),
        retryPolicy: {
          maxAttempts: 3,
          initialBackoff: '0.05s',
          maxBackoff: '1s',
          backoffMultiplier: 4,
          // The codes that grpc-js gives to a broken connection and to a reset stream.
          retryableStatusCodes: ['UNAVAILABLE', 'CANCELLED', 'INTERNAL'],
        },
      },
    ],
  };
  return JSON.stringify(config);
}

/** Whether a call may be repeated although a server may have handled it. */
export function isIdempotent({ options }: Method): boolean {
  return options?.idempotency_level === 'NO_SIDE_EFFECTS' || options?.idempotency_level === 'IDEMPOTENT';
}
