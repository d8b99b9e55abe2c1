import { Uuid } from '@call-analysis/events';
import type { ingest } from '@call-analysis/proto';
import type { Caller } from '@call-analysis/proto/ingest/v1/Caller';
import type { Campaign as CampaignMessage } from '@call-analysis/proto/ingest/v1/Campaign';
import type { Handlers } from '@call-analysis/rpc';
import { answer, PageRequest, present, requireCaller, type Sent } from '@call-analysis/service';
import type { Firms } from '@call-analysis/service/firms';
import { z } from 'zod';
import { requireActiveCampaign } from './add-calls.ts';
import { campaignActions } from './campaign-rules.ts';
import type { Campaign } from './campaign-store.ts';
import { changeCampaign, changeCampaignState, createCampaign } from './change-campaign.ts';
import type { CancelDeps } from './maintain-campaigns.ts';

const Clearable = z.array(z.enum(['description', 'starts_at', 'ends_at']));

type CampaignHandlers = Pick<
  Handlers<typeof ingest>,
  'createCampaign' | 'listCampaigns' | 'getCampaign' | 'changeCampaign' | 'moveCampaign' | 'admitToCampaign'
>;

/** The RPCs for campaigns. */
export function campaignRpcs(deps: CancelDeps & { readonly firms: Firms }): CampaignHandlers {
  const { campaigns } = deps;
  return {
    createCampaign: async (request) =>
      shown(
        request.caller,
        await createCampaign(deps, requireCaller(request.caller), {
          name: z.string().min(1).parse(request.name),
          externalId: request.external_id ?? null,
          description: request.description ?? null,
          segmentType: request.segment_type ?? null,
          startsAt: instant(request.starts_at) ?? null,
          endsAt: instant(request.ends_at) ?? null,
        }),
      ),

    listCampaigns: async (request) => {
      const filter = { status: request.status, externalId: request.external_id ?? null };
      const { count, items } = await campaigns.list(
        requireCaller(request.caller).firmUuid,
        filter,
        PageRequest.parse(request),
      );
      const page = { count, items: items.map(campaignJson) };
      return answer(request.caller, page, (json) => ({ ...json, items: json.items.map(campaignMessage) }));
    },

    getCampaign: async (request) =>
      shown(
        request.caller,
        await campaigns.get(requireCaller(request.caller).firmUuid, Uuid.parse(request.campaign_uuid)),
      ),

    changeCampaign: async (request) => {
      const cleared = new Set<string>(Clearable.parse(request.clear));
      return shown(
        request.caller,
        await changeCampaign(deps, requireCaller(request.caller), Uuid.parse(request.campaign_uuid), {
          name: request.name,
          description: cleared.has('description') ? null : request.description,
          startsAt: cleared.has('starts_at') ? null : instant(request.starts_at),
          endsAt: cleared.has('ends_at') ? null : instant(request.ends_at),
        }),
      );
    },

    moveCampaign: async (request) => {
      const action = z.enum(campaignActions).parse(request.action);
      return shown(
        request.caller,
        await changeCampaignState(deps, requireCaller(request.caller), Uuid.parse(request.campaign_uuid), action),
      );
    },

    admitToCampaign: async (request) => {
      await requireActiveCampaign(deps, requireCaller(request.caller).firmUuid, Uuid.parse(request.campaign_uuid));
      return {};
    },
  };
}

function instant(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(z.iso.datetime().parse(text));
}

function shown(caller: Caller | null, campaign: Campaign) {
  return answer(caller, campaignJson(campaign), campaignMessage);
}

/** docs/api.md, "Campaigns". */
function campaignJson({ callsTotal, callsByStatus, callsErased, ...campaign }: Campaign) {
  return {
    uuid: campaign.uuid,
    name: campaign.name,
    external_id: campaign.externalId,
    description: campaign.description,
    status: campaign.status,
    segment_type: campaign.segmentType,
    starts_at: campaign.startsAt,
    ends_at: campaign.endsAt,
    created_at: campaign.createdAt,
    updated_at: campaign.updatedAt,
    calls: { total: callsTotal, by_status: callsByStatus, erased: callsErased },
    average_score: campaign.averageScore,
  };
}

/** As the last release sent it. */
function campaignMessage({ calls, ...same }: Sent<ReturnType<typeof campaignJson>>): CampaignMessage {
  return { ...present(same), calls_total: calls.total, calls_by_status: calls.by_status };
}
