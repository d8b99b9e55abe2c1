import type { audio, ingest } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { pathUuid } from '../../http/request/fields.ts';
import type { PublicUrl } from '../../http/request/public-url.ts';
import { CallDetail, CallPage } from '../../response-schemas/calls.ts';
import { callDetail } from '../calls/call-json.ts';
import { aboutCalls, CallQuery, listCalls } from '../calls/calls.ts';
import { actorOf, callerOf } from '../ingest-caller.ts';
import { aboutRejected, downloadRejected } from '../uploads/batches.ts';
import { aboutRecording, recordingForm, uploadRecording } from '../uploads/recordings.ts';
import {
  aboutProcessUpload,
  aboutUpload,
  openUpload,
  ProcessUpload,
  processUpload,
  Upload,
} from '../uploads/uploads.ts';
import { CAMPAIGNS, campaignUuid } from './campaigns.ts';

const IN_CAMPAIGN = 'The calls belong to the campaign, which must be active.';
const REJECTED = `${CAMPAIGNS}/rejected`;

/** api.md, section 7: the calls of a campaign and the three ways in which they come. */
export function campaignCalls(
  catalogue: Pick<
    Client<typeof ingest>,
    'openUpload' | 'processUpload' | 'downloadRejected' | 'admitToCampaign' | 'getCampaign' | 'listCalls' | 'getCall'
  >,
  recordings: Pick<Client<typeof audio>, 'uploadRecording'>,
  publicUrl: PublicUrl,
): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: `${CAMPAIGNS}/:uuid/calls/upload`,
      proof: 'api-key',
      body: Upload,
      about: {
        ...aboutUpload,
        tag: 'Campaigns',
        summary: 'Begin an upload to a campaign',
        description: `${aboutUpload.description} ${IN_CAMPAIGN}`,
        refusals: [...aboutUpload.refusals, 'INVALID_TRANSITION'],
      },
      handle: ({ caller, params, body, request }) =>
        openUpload(catalogue, (url) => publicUrl(request, url), {
          caller: callerOf(caller),
          ...body,
          campaign_uuid: campaignUuid(params['uuid']),
        }),
    }),
    endpoint({
      method: 'POST',
      path: `${CAMPAIGNS}/:uuid/calls/process-upload`,
      proof: 'api-key',
      body: ProcessUpload,
      about: {
        ...aboutProcessUpload,
        tag: 'Campaigns',
        summary: 'Process an upload to a campaign',
        description: `${aboutProcessUpload.description} ${IN_CAMPAIGN}`,
        refusals: [...aboutProcessUpload.refusals, 'INVALID_TRANSITION'],
      },
      handle: ({ caller, params, body, request, address }) =>
        processUpload(catalogue, (rejected) => publicUrl(request, `${REJECTED}/${rejected}`), {
          caller: actorOf(caller, address),
          ...body,
          campaign_uuid: campaignUuid(params['uuid']),
        }),
    }),
    endpoint({
      method: 'GET',
      path: `${REJECTED}/:uuid`,
      proof: 'api-key',
      about: { ...aboutRejected, tag: 'Campaigns', summary: 'Get refused rows of a campaign' },
      async handle({ caller, params, request, response }) {
        await downloadRejected(catalogue, pathUuid(params['uuid'], 'file of refused rows'), caller, request, response);
        return undefined;
      },
    }),
    endpoint({
      method: 'POST',
      path: `${CAMPAIGNS}/:uuid/audio/upload`,
      proof: 'api-key',
      body: recordingForm,
      about: {
        ...aboutRecording,
        tag: 'Campaigns',
        summary: 'Upload a recording to a campaign',
        description: `${aboutRecording.description} ${IN_CAMPAIGN}`,
        refusals: [...aboutRecording.refusals, 'INVALID_TRANSITION'],
      },
      async handle({ caller, params, body }) {
        const campaign_uuid = campaignUuid(params['uuid']);
        // Asked again when the call is registered; asked now, nobody sends fifty megabytes for nothing.
        await catalogue.admitToCampaign({ caller: callerOf(caller), campaign_uuid });
        return uploadRecording(recordings, caller, body, campaign_uuid);
      },
    }),
    endpoint({
      method: 'GET',
      path: `${CAMPAIGNS}/:uuid/calls`,
      proof: 'api-key',
      query: CallQuery,
      about: {
        tag: 'Campaigns',
        summary: 'List calls of a campaign',
        description: aboutCalls,
        answers: { 200: { description: 'A page of calls.', schema: CallPage } },
      },
      async handle({ caller, params, query }) {
        const campaign_uuid = campaignUuid(params['uuid']);
        // A list that is empty is another answer than a campaign that is not there.
        await catalogue.getCampaign({ caller: callerOf(caller), campaign_uuid });
        return listCalls(catalogue, caller, query, campaign_uuid);
      },
    }),
    endpoint({
      method: 'GET',
      path: `${CAMPAIGNS}/:uuid/calls/:call_uuid`,
      proof: 'api-key',
      about: {
        tag: 'Campaigns',
        summary: 'Get a call of a campaign',
        description: 'With its transcript, all its analyses and the quotes behind every answer.',
        answers: { 200: { description: 'The call in full.', schema: CallDetail } },
      },
      async handle({ caller, params, request }) {
        const call = await catalogue.getCall({
          caller: callerOf(caller),
          call_uuid: pathUuid(params['call_uuid'], 'call'),
          campaign_uuid: campaignUuid(params['uuid']),
        });
        return { status: 200, body: callDetail(call, (url) => publicUrl(request, url)) };
      },
    }),
  ];
}
