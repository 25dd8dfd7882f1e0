import { type GradeToProgress, gradeToProgressChoices, type LmsKind } from '../../contract/constants.ts'
import type { Integration } from '../../contract/integrations.ts'
import { invalid } from '../problem-error.ts'
import { Choice, Faults, Field, type FilledIn, Form, isFaulty } from './form.tsx'

const labels = {
  baseUrl: 'Base URL',
  accessToken: 'Access token',
  clientId: 'Client ID',
  clientSecret: 'Client secret',
  tokenUrl: 'Token URL',
  webhookSecrets: 'Webhook secret',
  oldSecretEndsAt: 'Previous webhook secret',
  rootAccountUuid: 'Root account UUID',
  jwksUrl: 'URL of the signing keys',
  jwks: 'Signing keys (JSON)',
  gradeToProgress: 'Effect of a grade on progress',
  gradeItems: 'Graded items',
  defaultGradeMaximum: 'Maximum score',
}

const progressWords: Readonly<Record<GradeToProgress, string>> = {
  none: 'A grade leaves progress as it is',
  completed_on_pass: 'A passed course is completed (100%)',
  percent: 'The grade of the course is the percentage completed',
}

/** Periods in hours for which a replaced secret is accepted. */
const overlaps = [
  ['24', 'Accept the previous secret for 24 hours'],
  ['168', 'Accept it for 7 days'],
  ['0', 'Reject it at once'],
] as const

/** Its secrets are write-only. */
export function IntegrationForm({
  signedIn,
  form,
  fault,
  kind,
  integration,
}: FilledIn & { kind: LmsKind; integration: Integration | undefined }) {
  const { accessToken = null, clientSecret = null, webhook = [] } = integration?.secrets ?? {}
  const filledIn = { form, fault }
  return (
    <Form signedIn={signedIn} label="Configure the integration">
      <Faults fault={fault} labels={labels} />
      <input type="hidden" name="action" value="save" />
      <SecretField name="webhookSecrets" set={webhook[0]} {...filledIn} />
      {webhook.length === 0 ? null : <WebhookSecretChoices form={form} hasPrevious={webhook.length > 1} />}
      <TextField
        name="baseUrl"
        hint="Address of the other system, for connection checks"
        input={{ type: 'url', maxlength: 2048 }}
        {...filledIn}
      />
      {kind === 'oneroster' ? <ClientFields set={clientSecret} {...filledIn} /> : null}
      {kind === 'classroom' || kind === 'oneroster' ? null : (
        <SecretField name="accessToken" set={accessToken} {...filledIn} />
      )}
      {accessToken === null ? null : (
        <fieldset>
          <FormChoice form={form} name="removeToken" words="Remove the access token" />
        </fieldset>
      )}
      {kind === 'canvas' ? <CanvasFields {...filledIn} /> : null}
      <fieldset id="gradeToProgress" tabindex={-1}>
        <legend>{labels.gradeToProgress}</legend>
        {gradeToProgressChoices.map((choice) => (
          <FormChoice
            form={form}
            name="gradeToProgress"
            value={choice}
            words={progressWords[choice]}
            initial="none"
          />
        ))}
      </fieldset>
      <TextField
        name="defaultGradeMaximum"
        hint="Of a score that is sent without one"
        input={{ inputmode: 'decimal', maxlength: 20 }}
        {...filledIn}
      />
      <div class="actions">
        <button type="submit">{integration ? 'Save changes' : 'Connect'}</button>
      </div>
    </Form>
  )
}

type FieldProps = Pick<FilledIn, 'form' | 'fault'>

function TextField({
  name,
  hint,
  input,
  form,
  fault,
}: FieldProps & { name: keyof typeof labels; hint: string; input: object }) {
  return (
    <Field
      label={labels[name]}
      value={form.get(name) ?? ''}
      autocomplete="off"
      spellcheck={false}
      {...{ name, hint, fault, ...input }}
    />
  )
}

type StoredSecret = { readonly setAt: string; readonly last4: string | null }

function SecretField({
  set,
  ...field
}: FieldProps & { name: keyof typeof labels; set: StoredSecret | null | undefined }) {
  const input = { type: 'password', value: '', autocomplete: 'new-password' }
  return <TextField hint={secretHint(set)} input={input} {...field} />
}

function secretHint(set: StoredSecret | null | undefined): string {
  if (!set) return 'Not set'
  const end = set.last4 === null ? '' : `, ends in ${set.last4}`
  return `Set on ${set.setAt.slice(0, 10)}${end}. Leave it empty to keep it`
}

/** A check box, or with a value one of several radio buttons. */
function FormChoice({
  form,
  name,
  value,
  words,
  initial,
}: {
  form: URLSearchParams
  name: string
  value?: string
  words: string
  initial?: string
}) {
  const chosen = form.get(name) ?? initial
  return (
    <Choice
      type={value === undefined ? 'checkbox' : 'radio'}
      name={name}
      value={value ?? 'true'}
      checked={chosen === (value ?? 'true')}
      words={words}
    />
  )
}

/** Choices for the current webhook secrets: how long they stay valid, or to remove them. */
function WebhookSecretChoices({ form, hasPrevious }: { form: URLSearchParams; hasPrevious: boolean }) {
  const removal = hasPrevious ? 'Remove both webhook secrets' : 'Remove the webhook secret'
  return (
    <>
      <fieldset id="oldSecretEndsAt" tabindex={-1}>
        <legend>When you enter another webhook secret</legend>
        {overlaps.map(([hours, words]) => (
          <FormChoice form={form} name="overlap" value={hours} words={words} initial="24" />
        ))}
      </fieldset>
      <fieldset>
        <legend>Webhook secrets in use</legend>
        {hasPrevious ? (
          <FormChoice form={form} name="endPrevious" words="Reject the previous secret from now on" />
        ) : null}
        <FormChoice form={form} name="removeSecrets" words={removal} />
      </fieldset>
    </>
  )
}

/** A OneRoster provider is read with this client. */
function ClientFields({ set, form, fault }: FieldProps & { set: StoredSecret | null }) {
  return (
    <>
      <TextField
        name="tokenUrl"
        hint="Where access tokens are requested"
        input={{ type: 'url', maxlength: 2048 }}
        {...{ form, fault }}
      />
      <TextField
        name="clientId"
        hint="Of the client that the provider registered"
        input={{ maxlength: 255 }}
        {...{ form, fault }}
      />
      <SecretField name="clientSecret" set={set} {...{ form, fault }} />
    </>
  )
}

function CanvasFields({ form, fault }: FieldProps) {
  return (
    <>
      <TextField
        name="rootAccountUuid"
        hint="Events signed by Canvas must carry it"
        input={{ maxlength: 255 }}
        {...{ form, fault }}
      />
      <TextField
        name="jwksUrl"
        hint="Empty for the keys that Canvas publishes"
        input={{ type: 'url', maxlength: 2048 }}
        {...{ form, fault }}
      />
      <label for="jwks">{labels.jwks}</label>
      <textarea
        id="jwks"
        name="jwks"
        rows={3}
        spellcheck={false}
        aria-describedby="jwks-hint"
        aria-invalid={isFaulty(fault, 'jwks')}
      >
        {form.get('jwks') ?? ''}
      </textarea>
      <p class="hint" id="jwks-hint">
        A JSON Web Key Set, for servers that cannot fetch the keys
      </p>
    </>
  )
}

/** A merge patch. An empty secret field leaves the secret as it is. */
export function integrationInputOf(form: URLSearchParams, kind: LmsKind, now: Date): Record<string, unknown> {
  const given = (name: string) => (form.get(name) ?? '').trim() || null
  const [token, secret] = [form.get('accessToken') ?? '', form.get('webhookSecrets') ?? '']
  const client = form.get('clientSecret') ?? ''
  const isChosen = (name: string) => form.get(name) === 'true'
  const maximum = given('defaultGradeMaximum')
  return {
    baseUrl: given('baseUrl'),
    gradeToProgress: form.get('gradeToProgress') ?? 'none',
    defaultGradeMaximum: maximum === null ? null : Number(maximum.replace(',', '.')),
    ...(secret !== '' && {
      webhookSecrets: [secret],
      ...overlapOf(Number(form.get('overlap') ?? 0), now),
    }),
    ...(secret === '' && isChosen('endPrevious') && { oldSecretEndsAt: null }),
    ...(secret === '' && isChosen('removeSecrets') && { webhookSecrets: null }),
    ...(token !== '' && { accessToken: token }),
    ...(token === '' && isChosen('removeToken') && { accessToken: null }),
    ...(kind === 'oneroster' && {
      ...{ tokenUrl: given('tokenUrl'), clientId: given('clientId') },
      ...(client !== '' && { clientSecret: client }),
    }),
    ...(kind === 'canvas' && {
      rootAccountUuid: given('rootAccountUuid'),
      jwksUrl: given('jwksUrl'),
      jwks: parseJsonOrNull(given('jwks')),
    }),
  }
}

/** When a replaced secret ends; an empty object if at once. */
export function overlapOf(hours: number, now: Date): { readonly oldSecretEndsAt?: string } {
  if (!(hours > 0 && hours <= 168)) return {}
  return { oldSecretEndsAt: new Date(now.getTime() + hours * 60 * 60 * 1000).toISOString() }
}

/** Without the secrets. */
export function filledInWith(integration: Integration | undefined): URLSearchParams {
  if (!integration) return new URLSearchParams({ defaultGradeMaximum: '100' })
  const { baseUrl, clientId, tokenUrl, rootAccountUuid, jwksUrl, jwks } = integration
  const { gradeToProgress, defaultGradeMaximum } = integration
  return new URLSearchParams({
    baseUrl: baseUrl ?? '',
    clientId: clientId ?? '',
    tokenUrl: tokenUrl ?? '',
    rootAccountUuid: rootAccountUuid ?? '',
    jwksUrl: jwksUrl ?? '',
    jwks: jwks === null ? '' : JSON.stringify(jwks),
    gradeToProgress,
    defaultGradeMaximum: String(defaultGradeMaximum),
  })
}

function parseJsonOrNull(text: string | null): unknown {
  if (text === null) return null
  try {
    return JSON.parse(text)
  } catch {
    throw invalid([{ pointer: '#/jwks', code: 'invalid_json', detail: 'must be JSON' }])
  }
}
