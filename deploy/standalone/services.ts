export { start as startAnalysis } from '@call-analysis/analysis';
export { start as startAudio } from '@call-analysis/audio';
export { start as startGateway } from '@call-analysis/gateway';
export { start as startIngest } from '@call-analysis/ingest';
export { start as startKeyManagement } from '@call-analysis/key-management';
export { start as startTranscription } from '@call-analysis/transcription';
export { start as startWebhooks } from '@call-analysis/webhooks';
