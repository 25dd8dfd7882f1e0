import { lmsKinds } from '../../contract/constants.ts'
import type { Command } from '../command/command.ts'
import { deliveryFilters } from '../flags/webhooks.ts'
import { call } from '../operation/operation-command.ts'
import { valueAt } from '../output/columns.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.deliveries

const delivery = { name: 'delivery', summary: 'Id of the delivery' }
/** Status and reason come first, since a narrow terminal cuts the later columns. */
const columns = [...['status', 'event', 'reason', 'receivedAt', 'lmsKind', 'userEmail', 'courseTitle', 'id']]
const shown = [
  'itemId',
  'learnerId',
  'courseId',
  'gradeId',
  'missing',
  'detail',
  'replays',
  'processedAt',
  'deliveryKey',
  'body',
]
/** Statuses of deliveries that need action. */
const notApplied: readonly unknown[] = ['unmatched', 'failed']

function outcomeOf(answer: unknown): string {
  const fieldOf = (name: string) => valueAt(answer, name)
  const missing = fieldOf('missing')
  const why =
    Array.isArray(missing) && missing.length > 0 ? `missing ${missing.join(' and ')}` : fieldOf('reason')
  return `${fieldOf('status')}${why === null || why === undefined ? '' : ` (${why})`}`
}

export const commands: readonly Command[] = [
  call({
    name: 'deliveries list',
    summary: 'List webhook deliveries of other systems, newest first',
    operation: async () => (await contract()).list,
    query: deliveryFilters,
    columns,
    examples: ['webhooks deliveries list --status unmatched,failed', 'webhooks deliveries list --since 7d'],
  }),
  call({
    name: 'deliveries get',
    summary: 'Show a webhook delivery with its payload',
    operation: async () => (await contract()).get,
    arguments: { deliveryId: delivery },
    columns: [...columns, ...shown],
    notes: nextStep,
    examples: ['webhooks deliveries get "$DELIVERY_ID"'],
  }),
  call({
    name: 'deliveries replay',
    summary: 'Process webhook deliveries again',
    description:
      'After a mapping, a user or an enrolment was added, unmatched deliveries can be applied. An applied delivery stays as it is,\nand an older grade never replaces a newer one.\nExit code 8 means that some are still not applied.',
    operation: async () => (await contract()).replay,
    arguments: { deliveryId: delivery },
    several: 'webhook deliveries',
    columns,
    done: (answer, { arguments: { delivery } }) => `Delivery ${delivery} is ${outcomeOf(answer)}`,
    exitNames: ['partial'],
    exits: (answer) => (notApplied.includes(valueAt(answer, 'status')) ? 'partial' : null),
    examples: [
      'webhooks deliveries replay "$DELIVERY_ID"',
      'webhooks deliveries list --status unmatched --all -q | learnctl webhooks deliveries replay --ids -',
    ],
  }),
]

/** For an unmatched delivery; null for all others. */
async function nextStep(answer: object): Promise<string | null> {
  const { id, status, reason, lmsKind, missing, body } = answer as Partial<Record<string, unknown>>
  const kind = lmsKinds.find((each) => each === lmsKind)
  if (status !== 'unmatched' || !kind || !Array.isArray(missing)) return null
  const [{ enrolStep, mappingSteps, thenReplay }, { mappingKeys }] = await Promise.all([
    import('../webhooks/next-steps.ts'),
    import('../../lms/read-event.ts'),
  ])
  if (missing.includes('enrollment')) return thenReplay(enrolStep, String(id))
  if (reason === 'user_inactive') return thenReplay('activate the user', String(id))
  // The scale of a score does not affect which records it refers to.
  const settings = { gradeItems: {}, defaultGradeMaximum: 100 }
  const keys = mappingKeys(kind, typeof body === 'string' ? body : null, settings)
  const needed = [
    ['course', missing.includes('course') ? keys.course : undefined],
    ['user', missing.includes('learner') ? keys.user : undefined],
  ] as const
  const unmapped = needed.flatMap(([noun, key]) => (key === undefined ? [] : [[noun, key] as const]))
  return thenReplay(mappingSteps(kind, unmapped), String(id))
}
