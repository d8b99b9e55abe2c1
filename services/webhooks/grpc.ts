import { PageQuery } from '@call-analysis/api/fields';
import { DeliveryQuery, NewWebhook, ReplayedPeriod, WebhookChange } from '@call-analysis/api/webhooks';
import { webhooks } from '@call-analysis/proto';
import { implement } from '@call-analysis/rpc';
import { apiRpc } from '@call-analysis/service';
import type { DeliveryDeps } from './deliveries/record-events.ts';
import { replay, retryDelivery, sendTest } from './deliveries/send-again.ts';
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  type EndpointDeps,
  rotateSecret,
} from './endpoints/endpoints.ts';

/** The service of proto/webhooks.proto. */
export function webhookService(deps: DeliveryDeps & EndpointDeps) {
  const { endpoints, deliveries } = deps;
  return implement(
    webhooks,
    {},
    {
      createWebhook: apiRpc(({ caller, read }) => createEndpoint(deps, caller, read(NewWebhook))),
      listWebhooks: apiRpc(({ caller, read }) => endpoints.list(caller.firmUuid, read(PageQuery))),
      getWebhook: apiRpc(({ caller, uuid }) => endpoints.get(caller.firmUuid, uuid)),
      changeWebhook: apiRpc(({ caller, uuid, read }) => changeEndpoint(deps, caller, uuid, read(WebhookChange))),
      deleteWebhook: apiRpc(({ caller, uuid }) => deleteEndpoint(deps, caller, uuid)),
      rotateSecret: apiRpc(({ caller, uuid }) => rotateSecret(deps, caller, uuid)),
      testWebhook: apiRpc(({ caller, uuid }) => sendTest(deps, caller.firmUuid, uuid)),
      listDeliveries: apiRpc(async ({ caller, uuid, read }) => {
        await endpoints.get(caller.firmUuid, uuid);
        return deliveries.list(uuid, read(DeliveryQuery));
      }),
      retryDelivery: apiRpc(({ caller, uuid, partUuid }) => retryDelivery(deps, caller.firmUuid, uuid, partUuid)),
      replay: apiRpc(async ({ caller, uuid, read }) => ({
        deliveries: await replay(deps, caller, uuid, read(ReplayedPeriod)),
      })),
    },
  );
}
