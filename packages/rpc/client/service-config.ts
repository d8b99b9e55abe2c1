import type { ServiceConfig } from '@grpc/grpc-js';
import type { Method } from '../wire/methods.ts';

/**
 * How grpc-js balances and repeats calls. It sends a call again by itself when no server has begun it. With a retry
 * policy it also repeats a call that got lost, until the first header of the answer arrives: only methods whose
 * `idempotency_level` allows that have one. Faults come as messages (see status.ts), so they are never retried.
 *
 * A lost call takes one of 1000 tokens and a success gives back half a token. Below 500 tokens nothing is retried, so
 * a service that fails most of its calls is not asked three times as often.
 */
export function serviceConfig(methods: readonly Method[]): string {
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
