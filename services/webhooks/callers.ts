import type { webhooks } from '@call-analysis/proto';
import type { Callers } from '@call-analysis/rpc';

/** The services whose certificates may call each method of proto/webhooks.proto. */
export const callers: Callers<typeof webhooks> = {
  createWebhook: ['gateway'],
  listWebhooks: ['gateway'],
  getWebhook: ['gateway'],
  changeWebhook: ['gateway'],
  deleteWebhook: ['gateway'],
  rotateSecret: ['gateway'],
  testWebhook: ['gateway'],
  listDeliveries: ['gateway'],
  retryDelivery: ['gateway'],
  replay: ['gateway'],
};
