import { isJsonObject } from '../../codec/json-text.ts'
import { lmsKinds } from '../../contract/constants.ts'
import type { Command, Given } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { checkChoices, type Flag } from '../command/flag.ts'
import { deliveryFilters } from '../flags/webhooks.ts'
import { call } from '../operation/operation-command.ts'
import { valueAt } from '../output/columns.ts'
import { CommandError, UsageError } from '../terminal/errors.ts'

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

const unmatchedFlag: Flag = {
  name: 'unmatched',
  kind: 'switch',
  summary: 'Process all unmatched deliveries again',
}
const kindFlag: Flag = {
  name: 'kind',
  kind: 'text',
  summary: 'With --unmatched, only those of this kind of system',
  choices: lmsKinds,
}

function outcomeOf(answer: unknown): string {
  const fieldOf = (name: string) => valueAt(answer, name)
  const missing = fieldOf('missing')
  const why =
    Array.isArray(missing) && missing.length > 0 ? `missing ${missing.join(' and ')}` : fieldOf('reason')
  return `${fieldOf('status')}${why === null || why === undefined ? '' : ` (${why})`}`
}

const replay = call({
  name: 'deliveries replay',
  summary: 'Process webhook deliveries again',
  description:
    'After a mapping, a user or an enrolment was added, unmatched deliveries can be applied. An applied delivery stays as it is,\nand an older grade never replaces a newer one.\nExit code 8 means that some are still not applied.',
  operation: async () => (await contract()).replay,
  arguments: { deliveryId: { ...delivery, instead: [unmatchedFlag.name] } },
  several: 'webhook deliveries',
  flags: [unmatchedFlag, kindFlag],
  columns,
  done: (answer, { arguments: { delivery } }) => `Delivery ${delivery} is ${outcomeOf(answer)}`,
  exitNames: ['partial'],
  exits: (answer) => (notApplied.includes(valueAt(answer, 'status')) ? 'partial' : null),
  examples: [
    'webhooks deliveries replay "$DELIVERY_ID"',
    'webhooks deliveries replay --unmatched --kind moodle',
  ],
})

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
  {
    ...replay,
    alsoPrints: ['Delivery[]'],
    run: (context, given) => {
      if (given.flags[unmatchedFlag.name] === true) return replayAll(context, given)
      if (given.flags[kindFlag.name] === undefined) return replay.run(context, given)
      throw new UsageError('--kind requires --unmatched')
    },
  },
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

async function replayAll(context: Context, { flags, rest }: Given): Promise<void> {
  const { session, output, io, settings } = context
  checkChoices([kindFlag], flags)
  if (rest.length > 0) throw new UsageError('--unmatched and ids cannot be used together')
  const shape = { table: columns, paths: columns, identifier: 'id' }
  output.check(shape)
  const operation = (await contract()).replayAll
  const caller = await session.caller()
  const lmsKind = lmsKinds.find((kind) => kind === flags[kindFlag.name]) ?? null
  const bodyFrom = (cursor: string | null) => ({ lmsKind, cursor })
  if (settings.dryRun.value) {
    const { showRequest } = await import('../operation/dry-run.ts')
    return showRequest(context, caller.request(operation, { body: bodyFrom(null) }))
  }
  const counts = { all: 0, applied: 0, notApplied: 0 }

  async function* pages(): AsyncGenerator<readonly unknown[]> {
    for (let cursor: string | null = null; ; ) {
      const { data }: { data: unknown } = await caller.call(operation, {
        body: bodyFrom(cursor),
        signal: io.signal,
      })
      const page = listIn(data)
      counts.all += page.length
      for (const each of page) {
        const status = valueAt(each, 'status')
        if (status === 'applied') counts.applied += 1
        if (notApplied.includes(status)) counts.notApplied += 1
      }
      yield page
      const next = valueAt(data, 'nextCursor')
      if (typeof next !== 'string') return
      cursor = next
    }
  }

  await output.list(pages(), shape)
  const summary = `Processed ${deliveriesText(counts.all, 'unmatched ')}: ${counts.applied} applied`
  await output.done(counts.all === 0 ? 'No unmatched deliveries' : summary)
  if (counts.notApplied === 0) return
  throw new CommandError('unsettled', 'partial', `${deliveriesText(counts.notApplied)} still not applied`, {
    hint: 'See why: learnctl webhooks deliveries list --status unmatched,failed',
  })
}

function listIn(answer: unknown): readonly unknown[] {
  const list = isJsonObject(answer) ? answer['data'] : undefined
  return Array.isArray(list) ? list : []
}

function deliveriesText(count: number, kind = ''): string {
  return `${count} ${kind}${count === 1 ? 'delivery' : 'deliveries'}`
}
