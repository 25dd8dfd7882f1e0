import { type GradeToProgress, gradeToProgressChoices, type LmsKind } from '../../contract/constants.ts'
import type { Integration } from '../../contract/integrations.ts'
import { invalid } from '../problem-error.ts'
import { Faults, Field, type FilledIn, Form, isFaulty } from './form.tsx'

const labels = {
  baseUrl: 'Base URL',
  accessToken: 'Access token',
  webhookSecrets: 'Webhook secret',
  oldSecretEndsAt: 'Previous webhook secret',
  rootAccountUuid: 'Root account UUID',
  jwksUrl: 'URL of the signing keys',
  jwks: 'Signing keys (JSON)',
  gradeToProgress: 'What a grade does to progress',
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

/** The form of an integration. Its secrets are write-only. */
export function IntegrationForm({
  signedIn,
  form,
  fault,
  kind,
  integration,
}: FilledIn & { kind: LmsKind; integration: Integration | undefined }) {
  const { accessToken = null, webhook = [] } = integration?.secrets ?? {}
  const text = (name: keyof typeof labels, hint: string, others: object = {}) => (
    <Field
      label={labels[name]}
      value={form.get(name) ?? ''}
      autocomplete="off"
      spellcheck={false}
      {...{ name, hint, fault, ...others }}
    />
  )
  const secret = (
    name: keyof typeof labels,
    set: { setAt: string; last4: string | null } | null | undefined,
  ) => text(name, secretHint(set), { type: 'password', value: '', autocomplete: 'new-password' })
  const choice = (name: string, words: string) => (
    <label class="choice">
      <input type="checkbox" name={name} value="true" checked={form.get(name) === 'true'} />
      <span>{words}</span>
    </label>
  )
  return (
    <Form signedIn={signedIn} label="Configure the integration">
      <Faults fault={fault} labels={labels} />
      <input type="hidden" name="action" value="save" />
      {secret('webhookSecrets', webhook[0])}
      {webhook.length === 0 ? null : (
        <fieldset id="oldSecretEndsAt" tabindex={-1}>
          <legend>When you enter another webhook secret</legend>
          {overlaps.map(([hours, words]) => (
            <label class="choice">
              <input
                type="radio"
                name="overlap"
                value={hours}
                checked={(form.get('overlap') ?? '24') === hours}
              />
              <span>{words}</span>
            </label>
          ))}
        </fieldset>
      )}
      {webhook.length === 0 ? null : (
        <fieldset>
          <legend>Webhook secrets in use</legend>
          {webhook.length > 1 ? choice('endPrevious', 'Reject the previous secret from now on') : null}
          {choice(
            'removeSecrets',
            webhook.length > 1 ? 'Remove both webhook secrets' : 'Remove the webhook secret',
          )}
        </fieldset>
      )}
      {text('baseUrl', 'Address of the other system, for connection checks', {
        type: 'url',
        maxlength: 2048,
      })}
      {secret('accessToken', accessToken)}
      {accessToken === null ? null : <fieldset>{choice('removeToken', 'Remove the access token')}</fieldset>}
      {kind === 'canvas' ? (
        <>
          {text('rootAccountUuid', 'Events signed by Canvas must carry it', { maxlength: 255 })}
          {text('jwksUrl', 'Empty for the keys that Canvas publishes', { type: 'url', maxlength: 2048 })}
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
      ) : null}
      <fieldset id="gradeToProgress" tabindex={-1}>
        <legend>{labels.gradeToProgress}</legend>
        {gradeToProgressChoices.map((choice) => (
          <label class="choice">
            <input
              type="radio"
              name="gradeToProgress"
              value={choice}
              checked={(form.get('gradeToProgress') ?? 'none') === choice}
            />
            <span>{progressWords[choice]}</span>
          </label>
        ))}
      </fieldset>
      {text('defaultGradeMaximum', 'Of a score that is sent without one', {
        inputmode: 'decimal',
        maxlength: 20,
      })}
      <div class="actions">
        <button type="submit">{integration ? 'Save changes' : 'Connect'}</button>
      </div>
    </Form>
  )
}

/** Returns the merge patch of a form. An empty secret field leaves the secret as it is. */
export function integrationInputOf(form: URLSearchParams, kind: LmsKind, now: Date): Record<string, unknown> {
  const given = (name: string) => (form.get(name) ?? '').trim() || null
  const [token, secret] = [form.get('accessToken') ?? '', form.get('webhookSecrets') ?? '']
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
    ...(kind === 'canvas' && {
      rootAccountUuid: given('rootAccountUuid'),
      jwksUrl: given('jwksUrl'),
      jwks: parseJsonOrNull(given('jwks')),
    }),
  }
}

/** Returns when a replaced secret ends; an empty object if at once. */
export function overlapOf(hours: number, now: Date): { readonly oldSecretEndsAt?: string } {
  if (!(hours > 0 && hours <= 168)) return {}
  return { oldSecretEndsAt: new Date(now.getTime() + hours * 60 * 60 * 1000).toISOString() }
}

/** Fills the form with an integration, without its secrets. */
export function filledInWith(integration: Integration | undefined): URLSearchParams {
  if (!integration) return new URLSearchParams({ defaultGradeMaximum: '100' })
  const { baseUrl, rootAccountUuid, jwksUrl, jwks, gradeToProgress, defaultGradeMaximum } = integration
  return new URLSearchParams({
    baseUrl: baseUrl ?? '',
    rootAccountUuid: rootAccountUuid ?? '',
    jwksUrl: jwksUrl ?? '',
    jwks: jwks === null ? '' : JSON.stringify(jwks),
    gradeToProgress,
    defaultGradeMaximum: String(defaultGradeMaximum),
  })
}

function secretHint(set: { setAt: string; last4: string | null } | null | undefined): string {
  if (!set) return 'Not set'
  const end = set.last4 === null ? '' : `, ends in ${set.last4}`
  return `Set on ${set.setAt.slice(0, 10)}${end}. Leave it empty to keep it`
}

function parseJsonOrNull(text: string | null): unknown {
  if (text === null) return null
  try {
    return JSON.parse(text)
  } catch {
    throw invalid([{ pointer: '#/jwks', code: 'invalid_json', detail: 'must be JSON' }])
  }
}
