import { shellWord } from '../../codec/display-text.ts'
import type { Context } from '../command/context.ts'
import { serverOf } from '../local-server/running-servers.ts'

/**
 * Returns notes about how to configure the other system, with the address for its events. For a system that sends none,
 * the address is for a relay, and is left out unless there is a webhook secret for it.
 */
export async function webhookNotes(
  context: Context,
  kind: string,
  hasNewSecret: boolean,
): Promise<readonly string[]> {
  const { isSendingEvents, relaySetUp, setUpOf, webhookTargetOf } = await import('../../lms/kinds.ts')
  const own = setUpOf(kind)
  const steps = own === undefined ? [] : [own]
  if (!isSendingEvents(kind) && !hasNewSecret) return steps
  const base = await addressOf(context)
  const start = base === null ? ['Start the server with: learnctl server start'] : []
  return [
    `Webhook URL: ${base ?? '<URL of your server>'}${webhookTargetOf(kind)}`,
    ...steps,
    ...(isSendingEvents(kind) ? [] : [relaySetUp]),
    ...start,
  ]
}

export async function addressOf({ session, directories }: Context): Promise<string | null> {
  const target = session.target()
  if (target.kind === 'remote') return target.url
  return (await serverOf(directories.state, target.database))?.url ?? null
}

type Unmapped = readonly [noun: string, key: string]

export function mappingSteps(kind: string, unmapped: readonly Unmapped[]): string {
  if (unmapped.length === 0) return `map it with \`learnctl integrations map ${kind}\``
  const commands = unmapped.map(
    ([noun, key]) => `\`learnctl integrations map ${kind} ${noun} ${shellWord(key)} <${noun} here>\``,
  )
  return `map it with ${commands.join(' and ')}`
}

export function thenReplay(steps: string, deliveryId: string | null): string {
  const sentence = steps.replace(/^./, (first) => first.toUpperCase())
  return `${sentence}, then run \`learnctl webhooks deliveries replay ${deliveryId ?? '<id>'}\``
}

export const enrolStep = 'enrol the learner with `learnctl enrollments create`'
