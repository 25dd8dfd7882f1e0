import { isConfidential } from '../../client/request.ts'
import { lmsKinds } from '../../contract/constants.ts'
import { valueAt } from '../../tables/column.ts'
import { type Command, type Given, noColumns, notAList } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { bindQueryFlags, type Flag, withTimeZone } from '../command/flag.ts'
import {
  deliveryFilters,
  endpointChanges,
  endpointFields,
  endpointFilters,
  messageFilters,
} from '../flags/access.ts'
import { backfillFilters } from '../flags/analytics.ts'
import { serverOf } from '../local-server/running-servers.ts'
import { call } from '../operation/operation-command.ts'
import { CommandError } from '../terminal/errors.ts'
import { enrolStep, mappingSteps, thenReplay } from '../webhooks/next-steps.ts'
import { recordCommands } from './record-commands.ts'
import { listenCommand } from './webhook-listen.ts'
import { keyCommand, sendCommand } from './webhook-send.ts'

/** Time to wait for the outcome; an attempt takes at most 15 s. */
const maxWaitMs = 20_000
const pollMs = 250

const testFields = ['result', 'attemptCount', 'id', 'endpointId']
const testShape = { table: testFields, paths: testFields }

const testCommand: Command = {
  name: 'endpoints test',
  summary: 'Send a test event to a webhook endpoint',
  writes: ['academy', 'elsewhere'],
  prints: ['TestedEndpoint'],
  description:
    'Sends an event of type endpoint.test, whatever the endpoint subscribes to, and waits up to 20 s for the outcome. The exit\ncode is 1 if the receiver does not accept it; the event is then retried like others.',
  arguments: [{ name: 'endpoint', summary: 'Id of the endpoint' }],
  refuses: notAList,
  examples: ['webhooks endpoints test "$ENDPOINT_ID"'],
  run: runTest,
}

async function runTest(context: Context, { arguments: { endpoint = '' } }: Given): Promise<void> {
  const { session, settings, output, io, directories } = context
  output.check(testShape)
  const { calls } = await import('../../contract/calls.ts')
  const caller = await session.caller()
  const input = { params: { endpointId: endpoint } }
  if (settings.dryRun.value) {
    const { showRequest } = await import('../operation/dry-run.ts')
    return showRequest(context, caller.request(calls.endpoints.test, input))
  }
  const { data: queued } = await caller.call(calls.endpoints.test, { ...input, signal: io.signal })
  const id = String(valueAt(queued, 'id'))
  const target = session.target()
  if (target.kind === 'local' && !(await serverOf(directories.state, target.database))) {
    await output.note('Events are sent while a server runs for the academy: learnctl server start')
    return output.done(`Queued test event ${id}`)
  }
  const params = { messageId: id }
  for (const end = io.now() + maxWaitMs; ; ) {
    const { data } = await caller.call(calls.messages.get, { params, signal: io.signal })
    const result = valueAt(data, 'lastResult')
    const delivered = valueAt(data, 'status') === 'delivered'
    if (delivered) {
      const outcome = { result, attemptCount: data.attemptCount, id, endpointId: data.endpointId }
      await output.done(`Delivered test event ${id}: ${result}`)
      if (settings.output.value !== 'table' || settings.quiet.value) await output.one(outcome, testShape)
      return
    }
    if (typeof result === 'string') throw notDelivered(id, result)
    if (io.now() >= end) throw notDelivered(id, 'not sent yet')
    await io.sleep(pollMs, io.signal)
  }
}

function notDelivered(id: string, result: string): CommandError {
  return new CommandError('not_delivered', 'failure', `Test event ${id} was not delivered: ${result}`, {
    hint: allowHint(result) ?? `Show its attempts: learnctl webhooks messages get ${id}`,
  })
}

function allowHint(result: string): string | null {
  const [, host] = /(\S+) (?:is not a public address|requires https)$/.exec(result) ?? []
  return host === undefined ? null : `Allow it: learnctl server start --webhook-allow ${host}`
}

const cursorFlag: Flag = {
  name: 'cursor',
  kind: 'text',
  summary: 'Continue where an interrupted backfill ended: the cursor that it printed',
}
const backfillFlags = bindQueryFlags(backfillFilters)

const backfillCommand: Command = {
  name: 'endpoints backfill',
  interruption: 'explained',
  summary: 'Send what learners have reached before to a learning record store',
  writes: ['academy', 'elsewhere'],
  prints: ['QueuedMessages'],
  description:
    'Queues the history of progress and grades, as far as it happened in the period, for an endpoint of kind xapi. The messages are\nsent while a server runs for the academy. Statements have the same ids each time: what the record store has already is not stored\nagain, so that the same command can be repeated.',
  arguments: [{ name: 'endpoint', summary: 'Id of the endpoint' }],
  refuses: noColumns,
  flags: [...withTimeZone(backfillFlags.map(({ flag }) => flag)), cursorFlag],
  examples: ['webhooks endpoints backfill "$RECORD_STORE_ID" --start-date 2014-01-01'],
  run: runBackfill,
}

async function runBackfill(context: Context, given: Given): Promise<void> {
  const { session, settings, output, io } = context
  const { arguments: named, flags } = given
  const { endpoint = '' } = named
  const [{ calls }, { queryOf }] = await Promise.all([
    import('../../contract/calls.ts'),
    import('../operation/operation-flags.ts'),
  ])
  const caller = await session.caller()
  const filter = { ...queryOf(backfillFlags, flags), endpoint_id: endpoint }
  let cursor = flags[cursorFlag.name] === undefined ? undefined : String(flags[cursorFlag.name])
  const query = () => ({ ...filter, ...(cursor !== undefined && { cursor }) })
  if (settings.dryRun.value) {
    const { showRequest } = await import('../operation/dry-run.ts')
    return showRequest(context, caller.request(calls.analytics.backfill, { query: query() }))
  }
  const { createProgressLine } = await import('../terminal/progress-line.ts')
  const line = await createProgressLine(io, 'messages', null)
  let queued = 0
  try {
    for (;;) {
      const { data } = await caller.call(calls.analytics.backfill, { query: query(), signal: io.signal })
      queued += data.queued
      await line?.update(queued)
      if (data.nextCursor === null) break
      cursor = data.nextCursor
    }
  } catch (error) {
    line?.stop()
    if (cursor !== undefined) await output.note(`Queued ${queued} messages; continue with --cursor ${cursor}`)
    throw error
  }
  line?.stop()
  await output.done(`Queued ${queued} messages for webhook endpoint ${endpoint}`)
  if (/^(jsonl?|yaml)$/.test(settings.output.value)) await output.document({ endpointId: endpoint, queued })
}

const messageCalls = async () => (await import('../../contract/calls.ts')).calls.messages

const message = { name: 'message', summary: 'Id of the message' }
/** Status and reason come first, since a narrow terminal cuts the later columns. */
const messageColumns = [
  ...['status', 'type', 'lastResult', 'attemptCount', 'nextAttemptAt', 'createdAt', 'id'],
  'endpointId',
]

const webhookMessage = recordCommands({
  operations: messageCalls,
  argument: message,
  noun: 'webhook message',
  columns: messageColumns,
  filters: messageFilters,
})

const messageCommands: readonly Command[] = [
  webhookMessage.list({
    name: 'messages list',
    summary: 'List the events that were or will be sent to webhook endpoints',
    examples: ['webhooks messages list --status failed', 'webhooks messages list --endpoint "$ENDPOINT_ID"'],
  }),
  webhookMessage.get({
    name: 'messages get',
    summary: 'Show a webhook message with its attempts',
    rows: {
      columns: ['number', 'startedAt', 'durationMs', 'result', 'response'],
      from: (answer) => (answer as { attempts?: readonly unknown[] }).attempts ?? [],
    },
    notes: (answer) => {
      const { type, status, nextAttemptAt } = answer as Partial<Record<string, unknown>>
      const next = typeof nextAttemptAt === 'string' ? `; next attempt at ${nextAttemptAt}` : ''
      return typeof status === 'string' ? `${type} is ${status}${next}` : null
    },
    examples: ['webhooks messages get "$MESSAGE_ID"', 'webhooks messages get "$MESSAGE_ID" -o json'],
  }),
  call({
    name: 'messages replay',
    summary: 'Send webhook messages again',
    writes: ['academy', 'elsewhere'],
    operation: async () => (await messageCalls()).resend,
    arguments: { messageId: message },
    several: 'webhook messages',
    columns: messageColumns,
    done: (_, { arguments: { message } }) => `Queued message ${message}`,
    examples: [
      'webhooks messages replay "$MESSAGE_ID"',
      'webhooks messages list --status failed -q | learnctl webhooks messages replay --ids -',
    ],
  }),
]

const contract = async () => (await import('../../contract/calls.ts')).calls.endpoints

const argument = { name: 'endpoint', summary: 'Id of the endpoint' }
const password = { field: 'password', input: { name: 'password', words: 'password or client secret' } }
/** Status and kind come first, since a narrow terminal cuts the later columns. */
const columns = ['status', 'kind', 'url', 'id', 'events', 'pausedUntil', 'description']

const endpoint = recordCommands({
  operations: contract,
  argument,
  noun: 'webhook endpoint',
  columns,
  filters: endpointFilters,
  fields: endpointChanges,
  nameOf: (endpoint, { arguments: names }) =>
    `webhook endpoint ${valueAt(endpoint, 'url') ?? names['endpoint']}`,
})

const endpointCommands: readonly Command[] = [
  endpoint.list({
    name: 'endpoints list',
    examples: ['webhooks endpoints list', 'webhooks endpoints list --status disabled'],
  }),
  endpoint.get({
    name: 'endpoints get',
    examples: ['webhooks endpoints get "$ENDPOINT_ID" -o json'],
  }),
  call({
    name: 'endpoints create',
    summary: 'Create a webhook endpoint (its secret is shown only once)',
    description:
      'Events are signed as Standard Webhooks 1.0.0 and sent while a server runs for the academy (`learnctl server start`).\nReceivers must have a public https address; a server on the loopback also sends to http on the loopback, and --webhook-allow\nof `server start` allows others.\n\nWith --kind slack or --kind teams, people read messages in a channel instead: --to is the URL of the incoming webhook or of the\nworkflow, which is stored encrypted and never shown again.\n\nWith --kind xapi, progress and grades become statements in a learning record store: --to is its URL up to /statements.',
    operation: async () => (await contract()).create,
    fields: endpointFields,
    secretField: password,
    ifLost: 'delete the endpoint and create another',
    columns: ['url', 'events', 'id', 'secret'],
    notes: (answer) => {
      const url = valueAt(answer, 'url')
      if (typeof url !== 'string' || !URL.canParse(url) || isConfidential(url)) return null
      return `Plain http is sent only to hosts that the server allows: learnctl server start --webhook-allow ${new URL(url).hostname}`
    },
    examples: [
      'webhooks endpoints create --to https://lms.example.org/hooks --events course.*,progress.completed',
      'webhooks endpoints create --to https://lms.example.org/hooks -o json',
      'webhooks endpoints create --kind slack --to https://hooks.slack.com/services/T0/B0/XXXX --events progress.completed',
      'webhooks endpoints create --kind slack --to https://hooks.slack.com/services/T0/B0/XXXX --schedule daily --digest-hour 7',
      'webhooks endpoints create --kind xapi --to https://lrs.example.org/xapi --username academy --password-stdin --home-page https://academy.example.org < password.txt',
    ],
  }),
  endpoint.update({
    name: 'endpoints update',
    secretField: password,
    examples: [
      'webhooks endpoints update "$ENDPOINT_ID" --status active',
      'webhooks endpoints update "$ENDPOINT_ID" --events course.*',
    ],
  }),
  endpoint.delete({
    name: 'endpoints delete',
    consequence: 'Messages that are not delivered yet are lost.',
    examples: ['webhooks endpoints delete "$ENDPOINT_ID" --yes'],
  }),
  testCommand,
  backfillCommand,
  call({
    name: 'endpoints rotate',
    summary: 'Replace the secret of a webhook endpoint (the new one is shown only once)',
    description: 'For 24 hours each message is signed with both secrets, so that receivers can change over.',
    operation: async () => (await contract()).rotate,
    arguments: { endpointId: argument },
    ifLost: 'rotate the secret again',
    columns: ['url', 'previousSecretUntil', 'id', 'secret'],
    examples: ['webhooks endpoints rotate "$ENDPOINT_ID" -o json'],
  }),
]

const deliveryCalls = async () => (await import('../../contract/calls.ts')).calls.deliveries

const delivery = { name: 'delivery', summary: 'Id of the delivery' }
const deliveryColumns = [
  ...['status', 'event', 'reason', 'receivedAt', 'lmsKind', 'userEmail', 'courseTitle', 'id'],
]
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
const notApplied: readonly unknown[] = ['unmatched', 'failed']

function outcomeOf(answer: unknown): string {
  const fieldOf = (name: string) => valueAt(answer, name)
  const missing = fieldOf('missing')
  const why =
    Array.isArray(missing) && missing.length > 0 ? `missing ${missing.join(' and ')}` : fieldOf('reason')
  return `${fieldOf('status')}${why === null || why === undefined ? '' : ` (${why})`}`
}

const deliveryCommands: readonly Command[] = [
  call({
    name: 'deliveries list',
    summary: 'List webhook deliveries of other systems, newest first',
    operation: async () => (await deliveryCalls()).list,
    query: deliveryFilters,
    columns: deliveryColumns,
    examples: ['webhooks deliveries list --status unmatched,failed', 'webhooks deliveries list --since 7d'],
  }),
  call({
    name: 'deliveries get',
    summary: 'Show a webhook delivery with its payload',
    operation: async () => (await deliveryCalls()).get,
    arguments: { deliveryId: delivery },
    columns: [...deliveryColumns, ...shown],
    notes: nextStep,
    examples: ['webhooks deliveries get "$DELIVERY_ID"'],
  }),
  call({
    name: 'deliveries replay',
    summary: 'Process webhook deliveries again',
    description:
      'After a mapping, a user or an enrolment was added, unmatched deliveries can be applied. An applied delivery stays as it is,\nand an older grade never replaces a newer one.\nExit code 8 means that some are still not applied.',
    operation: async () => (await deliveryCalls()).replay,
    arguments: { deliveryId: delivery },
    several: 'webhook deliveries',
    columns: deliveryColumns,
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
  const { mappingKeys } = await import('../../lms/kinds.ts')
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

export const commands: readonly Command[] = [
  ...[...endpointCommands, ...messageCommands, ...deliveryCommands],
  ...[sendCommand, keyCommand, listenCommand],
]
