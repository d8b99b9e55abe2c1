import { Uuid } from '@call-analysis/events';
import type { ingest } from '@call-analysis/proto';
import type { Campaign as CampaignMessage } from '@call-analysis/proto/ingest/v1/Campaign';
import type { Handlers } from '@call-analysis/rpc';
import { requireCaller } from '@call-analysis/service';
import type { Firms } from '@call-analysis/service/firms';
import { z } from 'zod';
import { requireActiveCampaign } from './add-calls.ts';
import { campaignActions } from './campaign-rules.ts';
import type { Campaign } from './campaign-store.ts';
import type { CancelDeps } from './cancel-queued-calls.ts';
import { changeCampaignState, changeCampaign } from './change-campaign.ts';
import { createCampaign } from './create-campaign.ts';

const Instant = z.iso.datetime().transform((text) => new Date(text));
const Pages = z.object({ page: z.int().min(1), size: z.int().min(1).max(100) });
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
      campaignMessage(
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
      const { page, size } = Pages.parse(request);
      const filter = { status: request.status, externalId: request.external_id ?? null };
      const { count, items } = await campaigns.list(requireCaller(request.caller).firmUuid, filter, page, size);
      return { count, items: items.map(campaignMessage) };
    },

    getCampaign: async (request) =>
      campaignMessage(await campaigns.get(requireCaller(request.caller).firmUuid, Uuid.parse(request.campaign_uuid))),

    changeCampaign: async (request) => {
      const cleared = new Set<string>(Clearable.parse(request.clear));
      return campaignMessage(
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
      return campaignMessage(
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
  return text === undefined ? undefined : Instant.parse(text);
}

function campaignMessage(campaign: Campaign): CampaignMessage {
  const { externalId, description, segmentType, startsAt, endsAt, averageScore } = campaign;
  return {
    uuid: campaign.uuid,
    name: campaign.name,
    status: campaign.status,
    created_at: campaign.createdAt.toISOString(),
    updated_at: campaign.updatedAt.toISOString(),
    calls_total: campaign.callsTotal,
    calls_by_status: { ...campaign.callsByStatus },
    calls_erased: campaign.callsErased,
    ...(externalId !== null && { external_id: externalId }),
    ...(description !== null && { description }),
    ...(segmentType !== null && { segment_type: segmentType }),
    ...(startsAt !== null && { starts_at: startsAt.toISOString() }),
    ...(endsAt !== null && { ends_at: endsAt.toISOString() }),
    ...(averageScore !== null && { average_score: averageScore }),
  };
}
