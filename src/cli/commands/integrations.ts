import { shellWord } from '../../codec/display-text.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-text.ts'
import { lmsKinds } from '../../contract/constants.ts'
import { type Argument, type Command, checkArgument, type Given, noColumns } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import {
  browserFlag,
  type Flag,
  googleClientIdFlag,
  googleRedirectUriFlag,
  textsIn,
} from '../command/flag.ts'
import {
  clientSecret,
  readSecret,
  readsInput,
  type SecretInput,
  secretFlag,
  webhookSecret,
} from '../command/secret-input.ts'
import { integrationFlags } from '../flags/access.ts'
import { call } from '../operation/operation-command.ts'
import { updatedLine } from '../operation/thing-name.ts'
import type { Output } from '../output/output.ts'
import { UsageError } from '../terminal/errors.ts'
import { webhookNotes } from '../webhooks/next-steps.ts'
import { mapCommand, unmapCommand } from './mappings.ts'
import { recordCommands } from './record-commands.ts'

const ownFlags: readonly Flag[] = [
  {
    name: 'jwks',
    kind: 'text',
    placeholder: 'file|url',
    file: 'read',
    summary: 'Keys that Canvas signs with: a JSON file, or an https URL (default the one of Canvas)',
  },
  {
    name: 'grade-item',
    kind: 'texts',
    placeholder: 'id=maximum',
    summary: 'Maximum of a grade item of the other system, such as 12=20; 12= removes it',
  },
]

async function integrationBody({ io }: Pick<Context, 'io'>, { flags }: Given): Promise<JsonObject> {
  return {
    ...(flags['jwks'] !== undefined && (await keySource(io, String(flags['jwks'])))),
    ...(Array.isArray(flags['grade-item']) && { gradeItems: itemsIn(flags['grade-item'].map(String)) }),
  }
}

async function keySource(io: Context['io'], source: string): Promise<JsonObject> {
  if (/^https?:\/\//i.test(source)) return { jwksUrl: source, jwks: null }
  const { readFileText } = await import('../terminal/text-input.ts')
  const text = await readFileText(io, source)
  let keys: unknown
  try {
    keys = JSON.parse(text)
  } catch (cause) {
    throw new UsageError(`Cannot read ${source}: it is not JSON`, { cause })
  }
  if (isJsonObject(keys) && Array.isArray(keys['keys'])) return { jwks: { keys: keys['keys'] } }
  throw new UsageError(`Cannot read ${source}: it is not a JSON Web Key Set, {"keys": […]}`)
}

function itemsIn(texts: readonly string[]): JsonObject {
  const items = texts.map((text) => {
    const [, id = '', maximum = ''] = /^(.+)=([^=]*)$/s.exec(text) ?? []
    if (id === '') throw new UsageError(`--grade-item must be <id>=<maximum>, not ${JSON.stringify(text)}`)
    if (maximum === '') return [id, null]
    const number = Number(maximum)
    if (Number.isFinite(number) && number > 0) return [id, { maximum: number }]
    throw new UsageError(`--grade-item ${id}= must be a number above 0, not ${JSON.stringify(maximum)}`)
  })
  return Object.fromEntries(items)
}

const accessToken: SecretInput = { name: 'access-token', words: 'access token' }
const secretInputs = [accessToken, clientSecret, webhookSecret]
const oldSecret = 'old-webhook-secret'
const removable = [...secretInputs.map(({ name }) => name), oldSecret]
/** The previous webhook secret stays accepted for this long. */
const overlapMs = 24 * 60 * 60 * 1000

const integrationSecretFlags: readonly Flag[] = [
  ...secretInputs.map(secretFlag),
  {
    name: 'generate-secret',
    kind: 'switch',
    summary: 'Generate a webhook secret, shown only once',
  },
  {
    name: 'remove-secret',
    kind: 'words',
    summary: 'Remove secrets',
    choices: removable,
  },
]

async function readSecrets(
  context: Pick<Context, 'io' | 'prompts'>,
  { flags }: Given,
): Promise<{ readonly body: JsonObject; readonly generated: string | undefined }> {
  const removed = textsIn(flags, 'remove-secret')
  const unknown = removed.find((name) => !removable.includes(name))
  if (unknown !== undefined) {
    throw new UsageError(`--remove-secret must be ${removable.join(', ')}, not ${JSON.stringify(unknown)}`, {
      choice: { given: unknown, valid: removable },
    })
  }
  const fromBody = /^@?-$/.test(String(flags['body']))
  if ([fromBody, ...secretInputs.map((secret) => readsInput(flags, secret))].filter(Boolean).length > 1) {
    const names = secretInputs.map(({ name }) => `--${name}-stdin`)
    throw new UsageError(`Only one of --body -, ${names.join(' and ')} can read standard input`, {
      hint: 'Set the other one with a second command: only the given settings change',
    })
  }
  const token = await readSecret(context, flags, accessToken)
  const client = await readSecret(context, flags, clientSecret)
  const given = await readSecret(context, flags, webhookSecret)
  if (flags['generate-secret'] === true && given !== undefined) {
    throw new UsageError('--generate-secret cannot be used with a webhook secret')
  }
  const generated = flags['generate-secret'] === true ? await newSecret() : undefined
  const secret = generated ?? given
  return {
    generated,
    body: {
      ...(removed.includes(accessToken.name) && { accessToken: null }),
      ...(removed.includes(clientSecret.name) && { clientSecret: null }),
      ...(removed.includes(webhookSecret.name) && { webhookSecrets: null }),
      ...(removed.includes(oldSecret) && { oldSecretEndsAt: null }),
      ...(token !== undefined && { accessToken: token }),
      ...(client !== undefined && { clientSecret: client }),
      ...(secret !== undefined && {
        webhookSecrets: [secret],
        // The other system keeps using the old secret until it is configured with the new one.
        oldSecretEndsAt: new Date(context.io.now() + overlapMs).toISOString(),
      }),
    },
  }
}

async function newSecret(): Promise<string> {
  const { newWebhookSecret } = await import('../../lms/delivery.ts')
  return newWebhookSecret()
}

const shownSecret = 'webhookSecret'

function outputWith(output: Output, secret: string): Output {
  return {
    ...output,
    check: (shape, use) => output.check({ ...shape, paths: [...shape.paths, shownSecret] }, use),
    one: (value, shape) =>
      output.one(
        { ...(value as object), [shownSecret]: secret },
        { ...shape, table: [...shape.table, shownSecret], paths: [...shape.paths, shownSecret] },
      ),
  }
}

const contract = async () => (await import('../../contract/calls.ts')).calls.integrations

const kind = {
  name: 'kind',
  summary: `Kind of the other system: ${lmsKinds.join(', ')}`,
  choices: lmsKinds,
}
const listed = ['lmsKind', 'baseUrl', 'gradeToProgress', 'webhookPath', 'updatedAt']
const columns = [...listed, 'secrets', 'gradeItems', 'rootAccountUuid', 'clientId', 'version']

const integration = recordCommands({
  operations: contract,
  argument: kind,
  parameter: 'lmsKind',
  noun: 'integration',
  columns,
  filters: integrationFlags.filters,
  nameOf: (_, { arguments: { kind } }) => `integration ${kind}`,
})

function setCall(fixed: object, generates: boolean): Command {
  return call({
    name: 'set',
    summary: 'Create or update an integration',
    description: `Only the given settings change. Secrets come from standard input or a hidden prompt, and are
never shown again. A new webhook secret is accepted at once; the previous one is accepted for another 24 hours, so that
the other system can be changed meanwhile.`,
    operation: async () => (await contract()).set,
    arguments: { lmsKind: kind },
    fields: integrationFlags.fields,
    flags: [...ownFlags, ...integrationSecretFlags],
    fixed,
    merge: true,
    versioned: true,
    columns: generates ? ['lmsKind', 'webhookPath', 'version'] : columns,
    ...(!generates && {
      done: (answer: unknown, { arguments: { kind } }: Given, unchanged: boolean) =>
        unchanged
          ? updatedLine('Set up', `integration ${kind}`, answer, unchanged)
          : `Set up integration ${kind}`,
    }),
    examples: [
      'integrations set canvas --base-url https://school.instructure.com --root-account-uuid vR4bVbE4zCeK',
      'integrations set moodle --generate-secret --grade-item 12=20',
      'integrations set thinkific --webhook-secret-stdin < secret.txt',
      'integrations set openedx --grade-to-progress completed_on_pass',
      'integrations set oneroster --client-id learnctl --client-secret-stdin < secret.txt',
    ],
  })
}

async function runSet(context: Context, given: Given): Promise<void> {
  const { output, settings } = context
  const secrets = await readSecrets(context, given)
  const fixed = { ...secrets.body, ...(await integrationBody(context, given)) }
  const { generated } = secrets
  const command = setCall(fixed, generated !== undefined)
  if (generated === undefined || settings.dryRun.value) await command.run(context, given)
  else {
    const { assertSecretShown } = await import('../operation/prepare-call.ts')
    const paths = [...columns, shownSecret]
    assertSecretShown(context, shownSecret, { table: paths, paths })
    await command.run({ ...context, output: outputWith(output, generated) }, given)
  }
  if (settings.dryRun.value || settings.quiet.value || settings.output.value !== 'table') return
  const hasNewSecret = 'webhookSecrets' in secrets.body
  for (const note of await webhookNotes(context, given.arguments['kind'] ?? '', hasNewSecret)) {
    await output.note(note)
  }
}

function checksIn(answer: unknown): readonly JsonObject[] {
  const checks = isJsonObject(answer) ? answer['checks'] : undefined
  return Array.isArray(checks) ? checks.filter(isJsonObject) : []
}

const signInKind: Argument = {
  name: 'kind',
  summary: 'Kind of the other system: classroom',
  choices: ['classroom'],
}

const signInCommand: Command = {
  name: 'sign-in',
  summary: 'Sign in to Google Classroom for an integration',
  writes: ['academy'],
  prints: [],
  description: `Opens Google's sign-in page in the browser, for an OAuth client of your own (Google Cloud Console, type Desktop app).
The client and the refresh token are stored encrypted in the integration and never shown again. Without --client-id,
the client id of the integration is used.`,
  arguments: [signInKind],
  flags: [
    googleClientIdFlag,
    secretFlag(clientSecret),
    {
      name: 'read-only',
      kind: 'switch',
      summary: 'Only ask to read; without it, courses and grades can be written, too',
    },
    googleRedirectUriFlag,
    browserFlag,
  ],
  refuses: noColumns,
  examples: [
    'integrations sign-in classroom --client-id 1234-abc.apps.googleusercontent.com --client-secret-stdin < secret.txt',
    'integrations sign-in classroom --read-only --client-secret-stdin < secret.txt',
  ],
  run: async (context, given) => {
    checkArgument(signInKind, given.arguments['kind'])
    const { signInToIntegration } = await import('../sign-in/google-sign-in.ts')
    return signInToIntegration(context, given)
  },
}

export const commands: readonly Command[] = [
  integration.list({ columns: listed, examples: ['integrations list', 'integrations list -o json'] }),
  integration.get({
    summary: 'Show an integration',
    examples: ['integrations get moodle', 'integrations get moodle -o yaml'],
  }),
  { ...setCall({}, false), prints: ['SetIntegration'], run: runSet },
  signInCommand,
  call({
    name: 'test',
    summary: 'Check the connection to the other system',
    writes: [],
    description:
      'Asks the other system whose access token it is, and checks what the integration needs. What is not set up is\nskipped: an integration for events needs no access token, and one that is only read needs no webhook secret. Exits with 1 if a check\nfails, or if nothing could be checked.',
    operation: async () => (await contract()).test,
    arguments: { lmsKind: kind },
    columns: ['lmsKind', 'passed', 'webhookPath', 'checks'],
    rows: {
      columns: ['name', 'status', 'detail'],
      from: checksIn,
    },
    // A narrow terminal truncates the table, so failed checks are repeated in full.
    notes: (answer) => {
      const checks = checksIn(answer)
      const failed = checks.filter(({ status }) => status === 'failed')
      if (failed.length === 0 && isJsonObject(answer) && answer['passed'] === false) {
        return `Nothing could be checked: ${checks.map(({ detail }) => detail).join('; ')}`
      }
      return failed.length === 0 ? null : failed.map(({ name, detail }) => `${name}: ${detail}`).join('; ')
    },
    exits: (answer) => (isJsonObject(answer) && answer['passed'] === false ? 'failure' : null),
    examples: ['integrations test moodle'],
  }),
  integration.delete({
    summary: 'Delete integrations and their secrets',
    operation: async () => (await contract()).remove,
    versioned: true,
    consequence: 'Its secrets are deleted, and its events are refused. Mappings and grades are kept.',
    consequences: 'Their secrets are deleted, and their events are refused. Mappings and grades are kept.',
    done: (_, { arguments: { kind } }) =>
      `Deleted integration ${kind}; set it up again with: learnctl integrations set ${shellWord(kind ?? '')}`,
    examples: [
      'integrations delete thinkific --yes',
      'integrations list -q | learnctl integrations delete --ids - --yes',
    ],
  }),
  call({
    name: 'mappings',
    summary: 'List the mappings of courses and users',
    operation: async () => (await contract()).mappings,
    arguments: { lmsKind: kind },
    query: integrationFlags.mappingFilters,
    columns: ['noun', 'externalKey', 'name', 'targetStatus', 'reference', 'id'],
    examples: ['integrations mappings moodle', 'integrations mappings moodle --noun course --all -o csv'],
  }),
  mapCommand(kind),
  unmapCommand(kind),
]
