import type { Endpoint } from '../../contract/endpoints.ts'
import { eventPatterns } from '../../contract/events.ts'
import { Faults, Field, type FilledIn, Form, isFaulty, OnceField } from './form.tsx'

const labels = { url: 'URL', events: 'Events', description: 'Description' }

/** The patterns for whole nouns, `course.*`, and the single events below each. */
const groups = eventPatterns
  .filter((pattern) => pattern.endsWith('.*'))
  .map((all) => ({
    all,
    noun: all.slice(0, -2),
    events: eventPatterns.filter((one) => one !== all && one.startsWith(all.slice(0, -1))),
  }))

const nounWords: Readonly<Record<string, string>> = {
  course: 'Course',
  lesson: 'Lesson',
  user: 'User',
  enrollment: 'Enrolment',
  progress: 'Progress',
  grade: 'Grade',
}

/** The form for an endpoint: a new one, or what one is to become. */
export function EndpointForm({ signedIn, form, fault, label }: FilledIn & { label: string }) {
  const chosen = form.getAll('events')
  const Choice = ({ value }: { value: string }) => (
    <label class="choice">
      <input type="checkbox" name="events" value={value} checked={chosen.includes(value)} />
      <span>{value === '*' ? 'All events' : <code>{value}</code>}</span>
    </label>
  )
  return (
    <Form signedIn={signedIn} label={label}>
      <Faults fault={fault} labels={labels} />
      <OnceField signedIn={signedIn} />
      <input type="hidden" name="action" value="save" />
      <Field
        name="url"
        label={labels.url}
        hint="https, or http where the server allows it"
        fault={fault}
        type="url"
        value={form.get('url') ?? ''}
        maxlength={2000}
        required
        autocomplete="off"
        spellcheck={false}
      />
      <fieldset id="events" tabindex={-1} aria-invalid={isFaulty(fault, 'events')}>
        <legend>{labels.events}</legend>
        <Choice value="*" />
        {groups.map(({ all, noun, events }) => (
          <details open={[all, ...events].some((one) => chosen.includes(one))}>
            <summary>{`${nounWords[noun] ?? noun} events`}</summary>
            {[all, ...events].map((value) => (
              <Choice value={value} />
            ))}
          </details>
        ))}
      </fieldset>
      <Field
        name="description"
        label={labels.description}
        hint="What the endpoint is for"
        fault={fault}
        value={form.get('description') ?? ''}
        maxlength={255}
        autocomplete="off"
      />
      <div class="actions">
        <button type="submit">{label}</button>
      </div>
    </Form>
  )
}

/** What the form asks for, as the API takes it. */
export function endpointInputOf(form: URLSearchParams) {
  return {
    url: (form.get('url') ?? '').trim(),
    events: form.getAll('events'),
    description: form.get('description') ?? '',
  }
}

/** A form filled in with what an endpoint is. */
export function filledInWith({ url, events, description }: Endpoint): URLSearchParams {
  return new URLSearchParams([
    ['url', url],
    ...events.map((event) => ['events', event]),
    ['description', description],
  ])
}
