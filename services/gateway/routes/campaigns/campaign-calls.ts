import { CallQuery } from '@call-analysis/api/call-query';
import { CallDetail, CallPage } from '@call-analysis/api/calls';
import type { Endpoint } from '../../http/endpoint.ts';
import type { PublicUrl } from '../../http/request/public-url.ts';
import { type AddChoices, callDetail, readCall } from '../calls/call-json.ts';
import { listCallsDescription, listCalls } from '../calls/calls.ts';
import { actorOf, callerOf, servedBy, type Services } from '../rpc-caller.ts';
import { rejectedDocs, downloadRejected } from '../uploads/batches.ts';
import { recordingDocs, recordingForm, uploadRecording } from '../uploads/recordings.ts';
import {
  processUploadDocs,
  openUploadDocs,
  openUpload,
  ProcessUpload,
  processUpload,
  OpenUpload,
} from '../uploads/uploads.ts';
import { CAMPAIGNS } from './campaigns.ts';

const IN_CAMPAIGN = 'The calls belong to the campaign, which must be active.';
const REJECTED = `${CAMPAIGNS}/rejected`;

/** The calls of a campaign and the three ways to upload them (docs/api.md, "Campaigns"). */
export function campaignCalls({ ingest, audio }: Services, publicUrl: PublicUrl, addChoices: AddChoices): Endpoint[] {
  const endpoint = servedBy(ingest, { tag: 'Campaigns', credentials: 'api-key' });
  return [
    endpoint({
      method: 'POST',
      path: `${CAMPAIGNS}/:uuid/calls/upload`,
      body: OpenUpload,
      ...openUploadDocs,
      id: 'openCampaignUpload',
      summary: 'Start an upload to a campaign',
      description: `${openUploadDocs.description} ${IN_CAMPAIGN}`,
      errors: [...openUploadDocs.errors, 'INVALID_TRANSITION'],
      handle: ({ caller, params, body, request }) =>
        openUpload(ingest, (url) => publicUrl(request, url), {
          caller: callerOf(caller),
          ...body,
          campaign_uuid: params.uuid,
        }),
    }),
    endpoint({
      method: 'POST',
      path: `${CAMPAIGNS}/:uuid/calls/process-upload`,
      lane: 'uploads',
      body: ProcessUpload,
      ...processUploadDocs,
      id: 'processCampaignUpload',
      summary: 'Process an upload to a campaign',
      description: `${processUploadDocs.description} ${IN_CAMPAIGN}`,
      errors: [...processUploadDocs.errors, 'INVALID_TRANSITION'],
      handle: ({ caller, params, body, request, address }) =>
        processUpload(ingest, (rejected) => publicUrl(request, `${REJECTED}/${rejected}`), {
          caller: actorOf(caller, address),
          ...body,
          campaign_uuid: params.uuid,
        }),
    }),
    endpoint({
      method: 'GET',
      path: `${REJECTED}/:uuid`,
      ...rejectedDocs,
      id: 'getCampaignRejectedRows',
      summary: 'Get the refused rows of a campaign upload',
      async handle({ caller, params, response }) {
        await downloadRejected(ingest, params.uuid, caller, response);
        return undefined;
      },
    }),
    endpoint({
      method: 'POST',
      path: `${CAMPAIGNS}/:uuid/audio/upload`,
      body: recordingForm,
      ...recordingDocs,
      id: 'uploadCampaignRecording',
      summary: 'Upload a recording to a campaign',
      description: `${recordingDocs.description} ${IN_CAMPAIGN}`,
      errors: [...recordingDocs.errors, 'INVALID_TRANSITION'],
      async handle({ caller, params, body }) {
        const campaign_uuid = params.uuid;
        // Checked again when the call is registered. Checking here spares clients a useless upload of 50 MB.
        await ingest.admitToCampaign({ caller: callerOf(caller), campaign_uuid });
        return uploadRecording(audio, caller, body, campaign_uuid);
      },
    }),
    endpoint({
      method: 'GET',
      path: `${CAMPAIGNS}/:uuid/calls`,
      query: CallQuery,
      id: 'listCampaignCalls',
      summary: 'List the calls of a campaign',
      description: listCallsDescription,
      responses: { 200: { description: 'A page of calls.', schema: CallPage } },
      async handle({ caller, params, query }) {
        const campaign_uuid = params.uuid;
        // An unknown campaign is NOT_FOUND, not an empty list.
        await ingest.getCampaign({ caller: callerOf(caller), campaign_uuid });
        return listCalls(ingest, caller, query, campaign_uuid);
      },
    }),
    endpoint({
      method: 'GET',
      path: `${CAMPAIGNS}/:uuid/calls/:call_uuid`,
      id: 'getCampaignCall',
      summary: 'Get a call of a campaign',
      description: 'The call with its transcript, all its analyses, and the quotes that support every answer.',
      responses: { 200: { description: 'The call.', schema: CallDetail } },
      async handle({ caller, params, request }) {
        const { call } = await readCall(ingest, {
          caller: callerOf(caller),
          call_uuid: params.call_uuid,
          campaign_uuid: params.uuid,
        });
        const body = await callDetail(
          call!,
          (url) => publicUrl(request, url),
          (analyses) => addChoices(caller, analyses),
        );
        return { status: 200, body };
      },
    }),
  ];
}
