import { Playback } from '@call-analysis/api/calls';
import { EVERY_ROLE } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import type { PublicUrl } from '../../http/request/public-url.ts';
import type { Services } from '../rpc-caller.ts';

/** An hour of a slow codec is decoded in less. */
const PREPARE_MS = 120_000;

/** Data for a player of a recording (docs/api.md, "Calls"). */
export function playback({ audio }: Services, publicUrl: PublicUrl): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/api/v1/calls/:uuid/playback',
      roles: EVERY_ROLE,
      tag: 'Calls',
      id: 'getPlayback',
      summary: 'Get a call ready to be played',
      description:
        'A URL that browsers play, and the peaks of both channels to draw. AIFF, AU and WAV with ADPCM are served as a copy in WAV. Both are made at the first request, which may take some seconds for a long recording, and are erased with the call. 404 for a call without a recording.',
      responses: { 200: { description: 'The URL and the peaks.', schema: Playback } },
      async handle({ caller, params, request }) {
        const call = { firm_uuid: caller.firmUuid, call_uuid: params.uuid };
        const { url, url_expires_at, format, converted, duration, peaks_per_second, left, right } =
          await audio.getPlayback(call, { deadlineMs: PREPARE_MS });
        return {
          status: 200,
          body: {
            url: publicUrl(request, url),
            url_expires_at,
            format,
            converted,
            duration,
            peaks: { per_second: peaks_per_second, left: [...left], right: [...right] },
          },
        };
      },
    }),
  ];
}
