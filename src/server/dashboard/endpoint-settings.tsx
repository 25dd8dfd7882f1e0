import { xapiVersions } from '../../contract/constants.ts'
import { type Actor, actors } from '../../contract/statements.ts'
import { Choice, Field, type FilledIn, isFaulty } from './form.tsx'

export const endpointLabels = {
  kind: 'Kind',
  url: 'URL',
  events: 'Events',
  description: 'Description',
  schedule: 'When messages are sent',
  digestHour: 'Hour of the digest',
  digestTimezone: 'Time zone of the digest',
  courseIds: 'Courses',
  atRiskOnly: 'Learners at risk only',
  learnerNames: 'Names of learners',
  xapiVersion: 'Version of xAPI',
  actor: 'How learners are named',
  homePage: 'URL of the academy',
  username: 'User name or client ID',
  password: 'Password or client secret',
  tokenUrl: 'Token URL',
  scope: 'Scope of the access token',
}

export type FieldProps = Pick<FilledIn, 'form' | 'fault'>

export function TextField({
  name,
  hint,
  input,
  form,
  fault,
}: FieldProps & { name: keyof typeof endpointLabels; hint: string; input: object }) {
  return (
    <Field
      label={endpointLabels[name]}
      value={form.get(name) ?? ''}
      autocomplete="off"
      spellcheck={false}
      {...{ name, hint, fault, ...input }}
    />
  )
}

const scheduleWords = { immediately: 'When something happens', daily: 'Once a day, as a digest' } as const

/** What a chat receives, and when. */
export function ChatFields({ form, fault }: FieldProps) {
  const hour = form.get('digestHour') || '8'
  return (
    <>
      <fieldset id="schedule" tabindex={-1} aria-invalid={isFaulty(fault, 'schedule')}>
        <legend>{endpointLabels.schedule}</legend>
        {Object.entries(scheduleWords).map(([value, words]) => (
          <Choice
            type="radio"
            name="schedule"
            value={value}
            checked={(form.get('schedule') ?? 'immediately') === value}
            words={words}
          />
        ))}
      </fieldset>
      <label for="digestHour">{endpointLabels.digestHour}</label>
      <select id="digestHour" name="digestHour">
        {Array.from({ length: 24 }, (_, each) => (
          <option value={String(each)} selected={hour === String(each)}>
            {`${String(each).padStart(2, '0')}:00`}
          </option>
        ))}
      </select>
      <TextField
        name="digestTimezone"
        hint="IANA time zone, such as Europe/Vienna. Empty for UTC"
        input={{ maxlength: 64 }}
        {...{ form, fault }}
      />
      <label for="courseIds">{endpointLabels.courseIds}</label>
      <textarea
        id="courseIds"
        name="courseIds"
        rows={3}
        spellcheck={false}
        aria-describedby="courseIds-hint"
        aria-invalid={isFaulty(fault, 'courseIds')}
      >
        {form.get('courseIds') ?? ''}
      </textarea>
      <p class="hint" id="courseIds-hint">
        Ids or external ids, one per line. Empty for all courses
      </p>
      <fieldset id="atRiskOnly" tabindex={-1} aria-invalid={isFaulty(fault, 'atRiskOnly')}>
        <legend>Content</legend>
        <Choice
          type="checkbox"
          name="atRiskOnly"
          value="true"
          checked={form.get('atRiskOnly') === 'true'}
          words="Only learners who need attention, in a digest"
        />
        <Choice
          type="checkbox"
          name="learnerNames"
          value="true"
          checked={form.get('learnerNames') === 'true'}
          words="Write the names of learners, which the other system then stores"
        />
      </fieldset>
    </>
  )
}

const actorWords: Readonly<Record<Actor, string>> = {
  id: 'By id, which reveals least',
  'external-id': 'By external id, else by id',
  email: 'By e-mail address',
}

/** What statements look like, and how the record store is reached. */
export function XapiFields({ form, fault, isNew }: FieldProps & { isNew: boolean }) {
  return (
    <>
      <fieldset id="xapiVersion" tabindex={-1} aria-invalid={isFaulty(fault, 'xapiVersion')}>
        <legend>{endpointLabels.xapiVersion}</legend>
        {xapiVersions.map((version) => (
          <Choice
            type="radio"
            name="xapiVersion"
            value={version}
            checked={(form.get('xapiVersion') ?? '1.0.3') === version}
            words={version}
          />
        ))}
      </fieldset>
      <fieldset id="actor" tabindex={-1} aria-invalid={isFaulty(fault, 'actor')}>
        <legend>{endpointLabels.actor}</legend>
        {actors.map((actor) => (
          <Choice
            type="radio"
            name="actor"
            value={actor}
            checked={(form.get('actor') ?? 'id') === actor}
            words={actorWords[actor]}
          />
        ))}
      </fieldset>
      <TextField
        name="homePage"
        hint="Accounts, activities and ids begin with it"
        input={{ type: 'url', maxlength: 2048 }}
        {...{ form, fault }}
      />
      <TextField
        name="username"
        hint="Of the record store, or the client ID if there is a token URL"
        input={{ maxlength: 255 }}
        {...{ form, fault }}
      />
      <TextField
        name="password"
        hint={isNew ? 'Stored encrypted, and never shown' : 'Never shown. Leave it empty to keep it'}
        input={{ type: 'password', value: '', maxlength: 1024, autocomplete: 'new-password' }}
        {...{ form, fault }}
      />
      <TextField
        name="tokenUrl"
        hint="Where access tokens are granted (OAuth 2.0). Empty for Basic authentication"
        input={{ type: 'url', maxlength: 2048 }}
        {...{ form, fault }}
      />
      <TextField
        name="scope"
        hint="Empty for that of the client"
        input={{ maxlength: 255 }}
        {...{ form, fault }}
      />
    </>
  )
}
