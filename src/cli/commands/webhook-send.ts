import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { type LmsKind, lmsKinds } from '../../contract/constants.ts'
import {
  type Argument,
  type Command,
  checkArgument,
  type Given,
  noTarget,
  notAList,
} from '../command/command.ts'
import { confirmAt } from '../command/confirm.ts'
import type { Context } from '../command/context.ts'
import { checkChoices, type Flag, withTimeZone } from '../command/flag.ts'
import { secretFlag, webhookSecret } from '../command/secret-input.ts'
import { openTarget } from '../terminal/target-file.ts'
import { addressOf } from '../webhooks/next-steps.ts'

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
    choices: ['applied', 'duplicate', 'stale', 'ignored', 'unmatched', 'refused'],
    hasChoicesInSummary: true,
    default: 'applied',
  },
])

const columns = ['delivery', 'status', 'outcome', 'reason', 'deliveryId', 'durationMs']
/** The names of each kind are listed above and checked before sending. */
const simulatedNames = [
  ...['grade_change', 'course_grade_change', 'course_progress', 'course_completed'],
  ...['user_graded', 'grade', 'enrollment.progress', 'enrollment.completed', 'grade.updated'],
]
const shape = { table: columns, paths: columns, identifier: 'deliveryId' }

const kindArgument: Argument = {
  name: 'kind',
  summary: `Kind of system: ${lmsKinds.join(', ')}`,
  choices: lmsKinds,
}

export const sendCommand: Command = {
  name: 'send',
  summary: 'Send a simulated delivery of an external system',
  writes: ['academy'],
  prints: ['SentDelivery[]'],
  confirms: true,
  description: `Sends what the real system would send, signed as it signs, to test a connection without it.

Events: canvas grade_change, course_grade_change, course_progress, course_completed; moodle user_graded,
course_completed; openedx grade; thinkific enrollment.progress, enrollment.completed; standard grade.updated.

The webhook secret comes from LEARNCTL_WEBHOOK_SECRET, --webhook-secret-stdin or a prompt. Canvas events are signed with the key
of --signing-key (see learnctl webhooks generate-key), or else with Standard Webhooks headers.

Exit code 0 means that the outcome was the expected one. --dry-run prints a curl command without the secret instead of
sending.`,
  arguments: [kindArgument, { name: 'event', summary: 'Event to send', choices: simulatedNames }],
  flags: sendFlags,
  refuses: notAList,
  examples: [
    'webhooks send canvas grade_change --user ext:11391 --course ext:AAA-2013J --item 355 --score 18 --maximum 20',
    'webhooks send standard grade.updated --user ext:11391 --course ext:AAA-2013J --score 18',
    'webhooks send moodle user_graded --user 15 --course 4 --score 85 --dry-run',
  ],
  run: runSend,
}

async function runSend(context: Context, given: Given): Promise<void> {
  const { output, settings, io } = context
  output.check(shape)
  const { flags } = given
  checkArgument(kindArgument, given.arguments['kind'])
  checkChoices(sendFlags, flags)
  // Checked above.
  const kind = given.arguments['kind'] as LmsKind
  const { curlLine, destinationOf, sendDelivery, simulatedDelivery, simulationOf, unexpectedOutcome } =
    await import('../webhooks/send-delivery.ts')
  const prints = settings.dryRun.value
  const to = flags['to'] === undefined ? undefined : String(flags['to'])
  const served = prints && to === undefined ? await addressOf(context) : null
  const destination = destinationOf(context, kind, to, served ?? undefined)
  const simulation = await simulationOf(context, kind, given)
  if (prints) {
    const secret = typeof simulation.secret === 'string' ? simulation.secret : null
    const delivery = await simulatedDelivery(simulation, io.now())
    return output.text(`${curlLine(destination.url, delivery, secret)}\n`)
  }
  if (destination.isElsewhere) {
    const where = `to ${new URL(destination.url).host}`
    await confirmAt(context, 'send 1 delivery', where, 'Grades and progress may change there.')
  }
  const delivery = await simulatedDelivery(simulation, io.now())
  const result = await sendDelivery(context, destination, delivery)
  await output.list([[result]], shape)
  await output.done(`Sent 1 delivery: 1 ${result.outcome}`)
  const expected = String(flags['expect'] ?? 'applied')
  if (result.outcome === expected) return
  const { exitOfStatus } = await import('../failures.ts')
  throw unexpectedOutcome(simulation, result, expected, exitOfStatus)
}

const keyFields = ['kid', 'file', 'jwksFile']
const keyShape = { table: keyFields, paths: keyFields, identifier: 'kid' }

export const keyCommand: Command = {
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

/** Generates a key pair like Canvas's: RSA with 2048 bits for RS256 (RFC 7518 §3.3), both as JSON. */
function newSigningKey() {
  const kid = `test-${randomBytes(6).toString('hex')}`
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const facts = { kid, alg: 'RS256', use: 'sig' }
  return {
    kid,
    /** A JWK (RFC 7517). */
    privateKey: JSON.stringify({ ...privateKey.export({ format: 'jwk' }), ...facts }, null, 2),
    /** A JWKS (RFC 7517 §5). */
    keySet: JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), ...facts }] }, null, 2),
  }
}
