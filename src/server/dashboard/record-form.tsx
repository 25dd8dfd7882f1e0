import type { Child, JSX } from 'hono/jsx'
import * as z from 'zod'
import { invalid, type ProblemError } from '../problem-error.ts'
import type { SignedInRequest } from './call-api.ts'
import { faultList, isFaulty, onceField, postForm } from './form.tsx'

export interface RecordForm {
  readonly label: string
  readonly button: string
  readonly fields: readonly (FormField | FormPart)[]
  /** Its schemas tell how fields are shown, bounded and read; a field that it lacks is left to the page. */
  readonly body?: z.ZodType
  readonly action?: string
  /** For `submitOnce`. */
  readonly isOnce?: true
  readonly note?: string
}

export interface FormField {
  /** In the body; also name and id of its input. */
  readonly name: string
  /** Object in the body that has it. */
  readonly of?: string
  readonly label: string
  readonly hint?: string
  /** In display order; default: the values of the schema. */
  readonly choices?: readonly FormChoice[]
  /** Default: that of its schema. */
  readonly look?: Look
  readonly input?: JSX.IntrinsicElements['input']
  /** Value of the text in the body, instead of that by its schema; undefined leaves the field out. */
  readonly read?: (text: string) => unknown
}

interface FormChoice {
  readonly value: string
  readonly words: Child
  readonly meaning?: string
  readonly fold?: string
}

export interface FormPart {
  readonly legend?: string
  readonly summary?: string
  readonly isOpen?: (form: URLSearchParams) => boolean
  readonly fields: RecordForm['fields']
}

/** An empty `secret` keeps the stored one. */
type Look = 'text' | 'secret' | 'number' | 'lines' | 'json' | 'checkbox' | 'checkboxes' | 'radios' | 'select'

export interface FormState {
  readonly form: URLSearchParams
  readonly fault?: ProblemError | undefined
}

export function recordForm(
  signedIn: SignedInRequest,
  of: RecordForm,
  { form, fault }: FormState,
  above?: Child,
): Child {
  const { label, button, fields, action, isOnce, note } = of
  const labels = Object.fromEntries(plainFields(of).map((field) => [field.name, field.label]))
  return postForm(
    signedIn,
    label,
    faultList(fault, labels),
    isOnce ? onceField(signedIn) : null,
    action === undefined ? null : <input type="hidden" name="action" value={action} />,
    above,
    inputsOf(fields, { of, form, fault }),
    note === undefined ? null : <p class="note">{note}</p>,
    <div class="actions">
      <button type="submit">{button}</button>
    </div>,
  )
}

/** Throws 422 for text that is no JSON where JSON is wanted. */
export function bodyIn(of: RecordForm, form: URLSearchParams): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  for (const field of plainFields(of)) {
    const property = propertyOf(of, field)
    const value = property && valueIn(field, property, form)
    if (value === undefined) continue
    const { name, of: outer } = field
    if (outer === undefined) body[name] = value
    else body[outer] = { ...(body[outer] as object), [name]: value }
  }
  return body
}

/** Without a record, fills in the defaults of choices and numbers. Secrets stay empty. */
export function filledInWith(of: RecordForm, record?: Readonly<Record<string, unknown>>): URLSearchParams {
  const form = new URLSearchParams()
  for (const field of plainFields(of)) {
    const property = propertyOf(of, field)
    const look = lookOf(field, property)
    const holder = field.of === undefined ? record : (record?.[field.of] as typeof record)
    const isPlain = ['text', 'lines', 'json', 'secret'].includes(look)
    const value = record ? holder?.[field.name] : isPlain ? undefined : property?.default
    if (value === undefined || value === null || look === 'secret') continue
    if (look === 'checkboxes') for (const one of value as string[]) form.append(field.name, one)
    else if (look === 'lines') form.set(field.name, (value as string[]).join('\n'))
    else form.set(field.name, look === 'json' ? JSON.stringify(value) : String(value))
  }
  return form
}

function plainFields({ fields }: Pick<RecordForm, 'fields'>): readonly FormField[] {
  return fields.flatMap((one) => ('fields' in one ? plainFields(one) : [one]))
}

function valueIn(field: FormField, property: Property, form: URLSearchParams): unknown {
  const { name, read } = field
  const raw = form.get(name) ?? ''
  const text = raw.trim()
  const look = lookOf(field, property)
  if (look === 'secret' && raw === '') return undefined
  if (read) return read(raw)
  switch (look) {
    case 'secret':
      return raw
    case 'checkboxes':
      return form.getAll(name)
    case 'checkbox':
      return raw === 'true'
    case 'lines':
      return text.split(/\s*\n\s*/).filter((line) => line !== '')
    case 'json':
      return text === '' ? null : parseJson(name, text)
  }
  if (look === 'select' && text === '') return undefined
  // An empty field has its default; one without is reported as missing.
  if (text === '') return property.default === undefined ? '' : property.default
  if (property.type === 'boolean') return text === 'true'
  // NaN for other text, which the API refuses.
  return ['number', 'integer'].includes(property.type ?? '') ? Number(text.replace(',', '.')) : text
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalid([{ pointer: `#/${name}`, code: 'invalid_json', detail: 'must be JSON' }])
  }
}

interface Filled extends FormState {
  readonly of: RecordForm
}

function inputsOf(fields: RecordForm['fields'], filled: Filled): Child {
  return fields.map((one) => ('fields' in one ? partOf(one, filled) : inputOf(one, filled)))
}

function partOf(part: FormPart, filled: Filled): Child {
  const { legend, summary, isOpen, fields } = part
  if (summary === undefined) {
    return (
      <fieldset>
        <legend>{legend}</legend>
        {inputsOf(fields, filled)}
      </fieldset>
    )
  }
  const { form, fault } = filled
  return (
    <details open={isOpen?.(form) || plainFields(part).some(({ name }) => isFaulty(fault, name))}>
      <summary>{summary}</summary>
      {inputsOf(fields, filled)}
    </details>
  )
}

function inputOf(field: FormField, { of, form, fault }: Filled): Child {
  const { name, label, hint, input } = field
  const property = propertyOf(of, field)
  const look = lookOf(field, property)
  const choices: readonly FormChoice[] =
    field.choices ?? (property?.items ?? property)?.enum?.map((value) => ({ value, words: value })) ?? []
  const value = form.get(name) ?? ''
  if (look === 'checkbox') {
    const box = { type: 'checkbox', id: name, name, value: 'true', checked: value === 'true' }
    return choiceOf({ words: label, meaning: hint }, box)
  }
  if (look === 'checkboxes' || look === 'radios') {
    const isRadio = look === 'radios'
    const chosen = isRadio ? [value || String(property?.default ?? choices[0]?.value)] : form.getAll(name)
    return (
      <fieldset id={name} tabindex={-1} aria-invalid={isFaulty(fault, name)}>
        <legend>{label}</legend>
        {choicesOf(choices, chosen, { type: isRadio ? 'radio' : 'checkbox', name })}
      </fieldset>
    )
  }
  const described = { 'aria-describedby': hint && `${name}-hint`, 'aria-invalid': isFaulty(fault, name) }
  return (
    <>
      <label for={name}>{label}</label>
      {look === 'select' ? (
        <select id={name} name={name} {...described}>
          {choices.map((one) => (
            <option value={one.value} selected={one.value === (value || String(property?.default))}>
              {one.words}
            </option>
          ))}
        </select>
      ) : look === 'lines' || look === 'json' ? (
        <textarea id={name} name={name} rows={3} spellcheck={false} {...described}>
          {value}
        </textarea>
      ) : (
        <input
          id={name}
          name={name}
          autocomplete={look === 'secret' ? 'new-password' : 'off'}
          spellcheck={false}
          type={look === 'secret' ? 'password' : property?.format === 'uri' ? 'url' : undefined}
          inputmode={look === 'number' ? 'decimal' : undefined}
          maxlength={look === 'number' ? 20 : property?.maxLength}
          required={property?.isRequired}
          value={look === 'secret' ? '' : value}
          {...input}
          {...described}
        />
      )}
      {hint ? (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      ) : null}
    </>
  )
}

/** Those of one fold follow each other; a fold is open where one of them is chosen. */
function choicesOf(
  choices: readonly FormChoice[],
  chosen: readonly string[],
  input: JSX.IntrinsicElements['input'],
): Child {
  const inputs = (some: readonly FormChoice[]) =>
    some.map((one) => choiceOf(one, { ...input, value: one.value, checked: chosen.includes(one.value) }))
  return [...Map.groupBy(choices, ({ fold }) => fold)].map(([fold, all]) =>
    fold === undefined ? (
      inputs(all)
    ) : (
      <details open={all.some(({ value }) => chosen.includes(value))}>
        <summary>{fold}</summary>
        {inputs(all)}
      </details>
    ),
  )
}

function choiceOf(
  { words, meaning }: { readonly words: Child; readonly meaning?: string | undefined },
  input: JSX.IntrinsicElements['input'],
): Child {
  return (
    <label class="choice">
      <input {...input} />
      <span>
        {meaning === undefined ? (
          words
        ) : (
          <>
            <strong>{words}</strong>
            <small>{meaning}</small>
          </>
        )}
      </span>
    </label>
  )
}

/** Of a JSON Schema, without null. */
interface Property {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly items?: Property
  readonly properties?: Readonly<Record<string, Property>>
  readonly format?: string
  readonly maxLength?: number
  readonly writeOnly?: boolean
  readonly default?: unknown
  readonly isRequired?: boolean
}

function lookOf({ look, choices }: FormField, property: Property | undefined): Look {
  if (look) return look
  if (property?.writeOnly) return 'secret'
  if (property?.type === 'array') return property.items?.enum ? 'checkboxes' : 'lines'
  if (choices || property?.enum) return 'radios'
  const looks: Partial<Record<string, Look>> = {
    boolean: 'checkbox',
    object: 'json',
    number: 'number',
    integer: 'number',
  }
  return looks[property?.type ?? ''] ?? 'text'
}

function propertyOf({ body }: RecordForm, { name, of }: FormField): Property | undefined {
  const properties = body && propertiesOf(body)
  return of === undefined ? properties?.[name] : properties?.[of]?.properties?.[name]
}

const propertiesBySchema = new WeakMap<z.ZodType, Readonly<Record<string, Property>>>()

function propertiesOf(schema: z.ZodType): Readonly<Record<string, Property>> {
  const known = propertiesBySchema.get(schema)
  if (known) return known
  const made = withoutNull(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })).properties ?? {}
  propertiesBySchema.set(schema, made)
  return made
}

function withoutNull({
  anyOf,
  properties,
  required = [],
  ...schema
}: z.core.JSONSchema.BaseSchema): Property {
  const [only] = anyOf?.filter(({ type }) => type !== 'null') ?? []
  if (only) return { ...withoutNull(only), ...(schema as Property) }
  const entries = Object.entries(properties ?? {}).map(([name, one]) => [
    name,
    { ...withoutNull(one as z.core.JSONSchema.BaseSchema), isRequired: required.includes(name) || undefined },
  ])
  return { ...(schema as Property), ...(properties && { properties: Object.fromEntries(entries) }) }
}
