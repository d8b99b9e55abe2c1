import { unavailable } from '@call-analysis/fault';
import type { ServiceDefinition } from '@grpc/grpc-js';
import { HEALTH_METHODS, type CallOptions, type Client, methodsOf } from '../wire/methods.ts';
import { remoteMethod } from './calls.ts';
import { type DialOptions, RemoteService } from './remote-service.ts';

export interface Channel {
  /** Resolves when the service reports SERVING, else rejects with Fault UNAVAILABLE. */
  ready(options?: CallOptions): Promise<void>;
  /** Calls in progress fail. No call may be made afterwards. */
  close(): void;
}

/**
 * The methods of a service at `host:port` or `unix:/path`. Connects with the first call, and again whenever needed, to
 * each address that the host's name has. Calls go to these addresses in turn.
 *
 * Every call has a deadline, and no call that a handler makes outlives the call that it handles. A call rejects with the
 * Fault that the handler threw, or with UNAVAILABLE when there was no answer in time. Aborting its signal rejects it
 * with the signal's reason. A stream is requested when its iteration begins and cancelled when it is left early.
 *
 * A call that finds no connection waits up to 1.5 s for one. A call that no server has begun is sent again, to another
 * server if there is one; a call that got lost only where its method allows it: see serviceConfig.
 */
export function dial<Service extends ServiceDefinition>(
  service: Service,
  address: string,
  options: DialOptions,
): Client<Service> & Channel {
  const methods = methodsOf(service);
  const remote = new RemoteService(address, options, [...methods.map(([, method]) => method), HEALTH_METHODS.Check]);
  const check = remoteMethod(remote, HEALTH_METHODS.Check) as (
    request: unknown,
    options?: CallOptions,
  ) => Promise<unknown>;
  const channel: Channel = {
    async ready(callOptions) {
      const { status } = (await check({ service: '' }, callOptions)) as { status: string };
      if (status !== 'SERVING') throw unavailable(options.name);
    },
    close: () => remote.connection.close(),
  };
  const calls = Object.fromEntries(methods.map(([name, method]) => [name, remoteMethod(remote, method)]));
  return Object.assign(calls as Client<Service>, channel);
}
