import { resolve } from 'node:path'
import { type LmsKind, lmsKinds } from '../../contract/constants.ts'
import { type Command, type Given, noTarget, notAList } from '../command/command.ts'
import { confirmAt } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import { type Flag, type FlagValues, withTimeZone } from '../command/flag.ts'
import { secretFlag, webhookSecret } from '../command/secret-input.ts'
import { UsageError } from '../terminal/errors.ts'
import { openTarget } from '../terminal/target-file.ts'
import type { Simulation } from '../webhooks/simulation.ts'
import { outcomes } from '../webhooks/simulation-choices.ts'

const sendFlags: readonly Flag[] = withTimeZone([
  {
    name: 'user',
    unlisted: ['--learner'],
    kind: 'text',
    placeholder: 'id|ext:id|email',
    summary: 'Learner, as the system names them',
    required: true,
  },
  {
    name: 'course',
    kind: 'text',
    placeholder: 'id|ext:id',
    summary: 'Course, as the system names it',
    required: true,
  },
  { name: 'item', kind: 'text', summary: 'Graded item: its id in the system' },
  { name: 'label', kind: 'text', summary: 'Name of the item' },
  { name: 'score', kind: 'number', summary: 'Score', default: '80% of the maximum' },
  { name: 'maximum', kind: 'number', summary: 'Maximum score', default: '100' },
  { name: 'completion', kind: 'number', summary: 'Percentage completed, 0–100', default: '50' },
  { name: 'unpublished', kind: 'switch', summary: 'Send a grade that the learner must not see yet' },
  { name: 'at', kind: 'time', summary: 'Day or time of the event, or how long ago', default: 'now' },
  {
    name: 'to',
    kind: 'text',
    placeholder: 'url',
    summary: 'Platform to send to',
    default: 'that of the profile',
  },
  secretFlag(webhookSecret),
  {
    name: 'signing-key',
    kind: 'text',
    placeholder: 'file',
    file: 'read',
    summary: 'Private key (JWK) that signs as Canvas does',
  },
  {
    name: 'expect',
    kind: 'text',
    placeholder: 'outcome',
    summary: 'Outcome that is a success: applied, duplicate, stale, ignored, unmatched or refused',
    choices: outcomes,
    hasChoicesInSummary: true,
    default: 'applied',
  },
  { name: 'print', kind: 'switch', summary: 'Print a curl command without the secret instead of sending' },
])

const columns = ['delivery', 'status', 'outcome', 'reason', 'deliveryId', 'durationMs']
/** Event names of all kinds; the names of each kind are listed above and checked before sending. */
const simulatedNames = [
  ...['grade_change', 'course_grade_change', 'course_progress', 'course_completed', 'caliper_grade'],
  ...['user_graded', 'grade', 'enrollment.progress', 'enrollment.completed', 'grade.updated'],
]
const shape = { table: columns, paths: columns, identifier: 'deliveryId' }

const sendCommand: Command = {
  name: 'send',
  summary: 'Send a simulated delivery of an external system',
  writes: ['academy'],
  prints: ['SentDelivery[]'],
  confirms: true,
  description: `Sends what the real system would send, signed as it signs, to test a connection without it.

Events: canvas grade_change, course_grade_change, course_progress, course_completed, caliper_grade; moodle user_graded,
course_completed; openedx grade; thinkific enrollment.progress, enrollment.completed; standard grade.updated.

The webhook secret comes from LEARNCTL_WEBHOOK_SECRET, --webhook-secret-stdin or a prompt. Canvas events are signed with the key
of --signing-key (see learnctl webhooks generate-key), or else with Standard Webhooks headers.

Exit code 0 means that the outcome was the expected one.`,
  arguments: [
    { name: 'kind', summary: `Kind of system: ${lmsKinds.join(', ')}`, choices: lmsKinds },
    { name: 'event', summary: 'Event to send', choices: simulatedNames },
  ],
  flags: sendFlags,
  refuses: notAList,
  examples: [
    'webhooks send canvas grade_change --user ext:11391 --course ext:AAA-2013J --item 355 --score 18 --maximum 20',
    'webhooks send standard grade.updated --user ext:11391 --course ext:AAA-2013J --score 18',
    'webhooks send moodle user_graded --user 15 --course 4 --score 85 --print',
  ],
  run: runSend,
}

async function runSend(context: Context, given: Given): Promise<void> {
  const { output, settings } = context
  output.check(shape)
  const { flags } = given
  const kind = kindOf(given.arguments['kind'] ?? '')
  const [{ simulatedDelivery }, { curlLine, destinationOf }, { expectedOutcome, unexpectedOutcome }] =
    await Promise.all([
      import('../webhooks/simulation.ts'),
      import('../webhooks/destination.ts'),
      import('../webhooks/expectation.ts'),
    ])
  const expected = expectedOutcome(textOf(flags, 'expect'))
  const prints = flags['print'] === true || settings.dryRun.value
  const to = textOf(flags, 'to')
  const served = prints && to === undefined ? await servedAddress(context) : null
  const destination = destinationOf(context, kind, to, served ?? undefined)
  const simulation = await simulationOf(context, given, kind)
  if (prints) {
    const secret = typeof simulation.secret === 'string' ? simulation.secret : null
    const delivery = await simulatedDelivery(simulation, context.io.now())
    return output.text(`${curlLine(destination.url, delivery, secret)}\n`)
  }
  if (destination.isElsewhere) {
    await confirmAt(
      context,
      'send 1 delivery',
      `to ${new URL(destination.url).host}`,
      'Grades and progress may change there.',
    )
  }
  const { sendDelivery } = await import('../webhooks/send-delivery.ts')
  const delivery = await simulatedDelivery(simulation, context.io.now())
  const result = await sendDelivery(context, destination, delivery)
  await output.list([[result]], shape)
  await output.done(`Sent 1 delivery: 1 ${result.outcome}`)
  if (result.outcome === expected) return
  const { exitOfStatus } = await import('../failures.ts')
  throw unexpectedOutcome(simulation, result, expected, exitOfStatus)
}

async function simulationOf(
  context: Context,
  { arguments: { event: name = '' }, flags }: Given,
  kind: LmsKind,
): Promise<Simulation> {
  const [{ canvasAccount }, { factsOf }, { simulatedEvents }, { signingMaterial }] = await Promise.all([
    import('../webhooks/destination.ts'),
    import('../webhooks/event-flags.ts'),
    import('../webhooks/simulation.ts'),
    import('../webhooks/signing-material.ts'),
  ])
  const events = simulatedEvents[kind]
  const event = Object.hasOwn(events, name) ? events[name] : undefined
  if (event === undefined) {
    const valid = Object.keys(events)
    throw new UsageError(`${kind} has no event ${JSON.stringify(name)}; use ${valid.join(', ')}`, {
      choice: { given: name, valid },
    })
  }
  const hasKey = flags['signing-key'] !== undefined
  if (hasKey && kind !== 'canvas') {
    throw new UsageError(`--signing-key is for canvas: ${kind} signs with the webhook secret`)
  }
  const facts = factsOf(kind, name, event, flags, context.io.now())
  const account = hasKey ? await canvasAccount(context, textOf(flags, 'to')) : undefined
  return { kind, event, facts: { ...facts, account }, secret: await signingMaterial(context, flags) }
}

async function servedAddress(context: Context): Promise<string | null> {
  const { addressOf } = await import('../webhooks/next-steps.ts')
  return addressOf(context)
}

function kindOf(text: string): LmsKind {
  const kind = lmsKinds.find((each) => each === text)
  if (kind) return kind
  throw new UsageError(`Unknown kind ${JSON.stringify(text)}; use ${lmsKinds.join(', ')}`, {
    choice: { given: text, valid: lmsKinds },
  })
}

function textOf(flags: FlagValues, name: string): string | undefined {
  const value = flags[name]
  return typeof value === 'string' ? value : undefined
}

const keyFields = ['kid', 'file', 'jwksFile']
const keyShape = { table: keyFields, paths: keyFields, identifier: 'kid' }

const keyCommand: Command = {
  name: 'generate-key',
  summary: 'Generate a key pair to sign Canvas events in tests',
  writes: ['files'],
  prints: ['KeyPair'],
  description:
    'Writes an RSA private key (JWK) for webhooks send --signing-key, and the key set (JWKS) that the canvas integration\nchecks signatures with. Real events are signed with the keys that Canvas publishes.',
  flags: [
    {
      name: 'file',
      kind: 'text',
      placeholder: 'file',
      file: 'write',
      summary:
        'File for the private key, readable by you alone; the public key set is beside it, as …-jwks.json',
      default: 'canvas-key.json',
    },
    { name: 'force', kind: 'switch', summary: 'Overwrite the files if they exist', destructive: true },
  ],
  refuses: { ...noTarget, ...notAList, dryRun: 'It only writes files on this machine' },
  examples: ['webhooks generate-key', 'webhooks generate-key --file test-key.json --force'],
  run: generateKey,
}

async function generateKey({ io, output }: Context, { flags }: Given): Promise<void> {
  output.check(keyShape)
  const file = String(flags['file'] ?? 'canvas-key.json')
  const jwksFile = `${file.replace(/(-key)?(\.json)?$/, '')}-jwks.json`
  const force = flags['force'] === true
  const { newSigningKey } = await import('../webhooks/signing-material.ts')
  const { kid, privateKey, keySet } = newSigningKey()
  // Opens both files before writing either.
  const privateFile = await openTarget(io.cwd, file, { force, mode: 0o600 })
  try {
    const publicFile = await openTarget(io.cwd, jwksFile, { force, mode: 0o644 })
    await publicFile.write(Buffer.from(`${keySet}\n`))
    await publicFile.finish()
    await privateFile.write(Buffer.from(`${privateKey}\n`))
    await privateFile.finish()
  } catch (error) {
    await privateFile.discard()
    throw error
  }
  const written = { kid, file: resolve(io.cwd, file), jwksFile: resolve(io.cwd, jwksFile) }
  await output.one(written, keyShape)
}

export const commands: readonly Command[] = [sendCommand, keyCommand]
