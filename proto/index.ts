import { fileURLToPath } from 'node:url';
import { loadPackageDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { ProtoGrpcType as AnalysisRoot } from './generated/analysis.ts';
import type { ProtoGrpcType as AudioRoot } from './generated/audio.ts';
import type { AnalysisDefinition, AnalysisHandlers } from './generated/call_analysis/analysis/v1/Analysis.ts';
import type { AudioDefinition, AudioHandlers } from './generated/call_analysis/audio/v1/Audio.ts';
import type { DeskDefinition, DeskHandlers } from './generated/call_analysis/desk/v1/Desk.ts';
import type { IngestDefinition, IngestHandlers } from './generated/call_analysis/ingest/v1/Ingest.ts';
import type {
  KeyManagementDefinition,
  KeyManagementHandlers,
} from './generated/call_analysis/key_management/v1/KeyManagement.ts';
import type { WebhooksDefinition, WebhooksHandlers } from './generated/call_analysis/webhooks/v1/Webhooks.ts';
import type { ProtoGrpcType as DeskRoot } from './generated/desk.ts';
import type { ProtoGrpcType as IngestRoot } from './generated/ingest.ts';
import type { ProtoGrpcType as KeyManagementRoot } from './generated/key-management.ts';
import type { ProtoGrpcType as WebhooksRoot } from './generated/webhooks.ts';

/** A service as its .proto file defines it. `Handlers` adds what the definition's type lacks: which methods stream. */
export type Service<Definition, Handlers> = Definition & { readonly [handlersOf]?: Handlers };
export declare const handlersOf: unique symbol;

// The options that the generated types were made with (scripts/prepare.mjs).
const options = { keepCase: true, longs: Number, defaults: true, oneofs: true } as const;

function load<Root>(file: string): Root {
  const definition = loadSync(fileURLToPath(new URL(file, import.meta.url)), options);
  return loadPackageDefinition(definition) as unknown as Root;
}

export const keyManagement: Service<KeyManagementDefinition, KeyManagementHandlers> =
  load<KeyManagementRoot>('./key-management.proto').call_analysis.key_management.v1.KeyManagement.service;

export const ingest: Service<IngestDefinition, IngestHandlers> =
  load<IngestRoot>('./ingest.proto').call_analysis.ingest.v1.Ingest.service;

export const audio: Service<AudioDefinition, AudioHandlers> =
  load<AudioRoot>('./audio.proto').call_analysis.audio.v1.Audio.service;

export const analysis: Service<AnalysisDefinition, AnalysisHandlers> =
  load<AnalysisRoot>('./analysis.proto').call_analysis.analysis.v1.Analysis.service;

export const webhooks: Service<WebhooksDefinition, WebhooksHandlers> =
  load<WebhooksRoot>('./webhooks.proto').call_analysis.webhooks.v1.Webhooks.service;

export const desk: Service<DeskDefinition, DeskHandlers> =
  load<DeskRoot>('./desk.proto').call_analysis.desk.v1.Desk.service;
