import { notFound } from '@call-analysis/fault';
import { type Caller, seenOperators } from '../../authentication/caller.ts';
import { callParameter, type Endpoint } from '../../http/endpoint.ts';
import { pathUuid } from '../../http/request/parse.ts';
import { callerOf, type Services } from '../rpc-caller.ts';

/**
 * The endpoints, of which each that names a call in its path answers NOT_FOUND to an OPERATOR who does not see the call, as
 * for a call of another firm. It stands before all of them, so that none can forget it.
 */
export function ofSeenCalls(endpoints: readonly Endpoint[], { ingest }: Services): Endpoint[] {
  return endpoints.map((each) => {
    const parameter = callParameter(each.path);
    if (parameter === undefined) return each;
    return {
      ...each,
      async handle(input) {
        const caller = input.caller as Caller | null;
        if (caller !== null && seenOperators(caller) !== null) {
          const call_uuid = pathUuid(input.params[parameter], 'call');
          const { sees } = await ingest.seesCall({ caller: callerOf(caller), call_uuid });
          if (!sees) throw notFound('call');
        }
        return each.handle(input);
      },
    };
  });
}
