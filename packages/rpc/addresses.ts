import { hostAndPort } from '@call-analysis/runtime';
import { z } from 'zod';

/** The addresses of all services that serve RPCs. A service picks those that it calls. */
export const AddressVariables = z.object({
  KEY_MANAGEMENT_ADDRESS: address('key-management'),
  INGEST_ADDRESS: address('ingest'),
  AUDIO_ADDRESS: address('audio'),
  ANALYSIS_ADDRESS: address('analysis'),
  WEBHOOKS_ADDRESS: address('webhooks'),
});

function address(service: string) {
  return hostAndPort().meta({
    description: `Where ${service} serves RPCs: \`host:port\`. A name with several addresses is balanced over all of them.`,
  });
}
