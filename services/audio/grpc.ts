import { Uuid } from '@call-analysis/events';
import { audio } from '@call-analysis/proto';
import type { Uploader as UploaderMessage } from '@call-analysis/proto/audio/v1/Uploader';
import { implement } from '@call-analysis/rpc';
import { counted } from './metrics.ts';
import { Playbacks } from './playback/read-playback.ts';
import { type Uploader, uploadRecording } from './upload-recording.ts';

/** The RPCs that this service serves. The gateway has validated the requests. Here they are only asserted. */
export function rpcs(parts: Parameters<typeof uploadRecording>[0] & ConstructorParameters<typeof Playbacks>[0]) {
  const playbacks = new Playbacks(parts);
  return implement(
    audio,
    {},
    {
      getPlayback: async ({ firm_uuid, call_uuid }) => playbacks.read(Uuid.parse(firm_uuid), Uuid.parse(call_uuid)),
      uploadRecording: async (requests) => {
        const messages = requests[Symbol.asyncIterator]();
        const first = await messages.next();
        const from = uploader(first.done === true ? null : first.value.uploader);
        const registered = await counted('upload', () => uploadRecording(parts, from, messages));
        const { call_uuid, ignored_fields, repeated_upload = false, has_ended = false } = registered;
        return { audio_id: call_uuid, ignored_fields, ...(repeated_upload && { repeated_upload, has_ended }) };
      },
    },
  );
}

function uploader(message: UploaderMessage | null | undefined): Uploader {
  return {
    firmUuid: Uuid.parse(message?.firm_uuid),
    userUuid: Uuid.parse(message?.user_uuid),
    campaignUuid: message?.campaign_uuid === undefined ? null : Uuid.parse(message.campaign_uuid),
  };
}
