import * as z from 'zod'
import { splitReferences } from '../codec/reference.ts'
import { instantText, isInstant } from '../codec/time-text.ts'

/** Accepts RFC 3339 with any offset, stores `YYYY-MM-DDTHH:mm:ss.sssZ`. */
export const Instant = z
  .string()
  .meta({ format: 'date-time' })
  .refine(isInstant, {
    params: { code: 'invalid_time' },
    error: 'must be a valid RFC 3339 time with a time zone, such as 2026-01-31T09:30:00Z',
  })
  .overwrite((text) => instantText(text) ?? text)

/** `YYYY-MM-DDTHH:mm:ss.sssZ`. */
export const Time = z.string().meta({ format: 'date-time' })

/** Text without white space around it. */
export function text(min: number, max: number) {
  return z.string().trim().min(min).max(max)
}

/** An absent value is stored and shown as null. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullable().default(null as never)
}

const maxReferenceLength = 512
const maxReferences = 100

/** An id of this academy, `ext:<externalId>`, or for users `email:<address>`. */
export const Reference = z.string().min(1).max(maxReferenceLength)

/** Comma-separated, `course_id=crs_1,ext:BIO-101`; an array in OpenAPI. */
export const References = z
  .string()
  .refine((list) => splitReferences(list).every(({ length }) => length > 0 && length <= maxReferenceLength), {
    params: { code: 'invalid_reference' },
    error: `must be references of 1 to ${maxReferenceLength} characters, with commas between them`,
  })
  .refine((list) => splitReferences(list).length <= maxReferences, {
    params: { code: 'too_long' },
    error: `must have at most ${maxReferences} references`,
  })
  .meta({
    type: 'array',
    items: { type: 'string' },
    maxItems: maxReferences,
    description:
      'Comma-separated list of references: id, ext:<externalId> or, for users, email:<address>; write a comma inside one as \\,',
  })

export const ExternalId = optional(z.string().min(1).max(255))
export const ManagedBy = optional(z.string().min(1).max(255))
export const Percent = z.number().min(0).max(100)
export const Minutes = z.int().min(0).max(10_000_000)
export const Objectives = z.array(text(1, 500)).max(100).default([])

// Abort at `max`: later checks may take time that grows faster than the text.
const atOnce = { abort: true } as const

export const WebAddress = z
  .string()
  .max(2048, atOnce)
  .meta({ format: 'uri' })
  .refine((address) => URL.canParse(address) && /^https?:$/.test(new URL(address).protocol), {
    params: { code: 'invalid_url' },
    error: 'must be an http or https URL',
  })

export const Language = z
  .string()
  .max(100, atOnce)
  .refine(isLanguage, {
    params: { code: 'invalid_language' },
    error: 'must be a BCP 47 language tag, such as en or pt-BR',
  })

export const Timezone = z
  .string()
  .max(100, { abort: true })
  .refine(isTimezone, {
    params: { code: 'invalid_timezone' },
    error: 'must be an IANA time zone, such as Europe/Vienna',
  })

function isTimezone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) !== undefined
  } catch {
    return false
  }
}

/** All codes of two letters, except replaced ones (ISO 639-1); none was added since 2003. */
const twoLetterLanguages: ReadonlySet<string> = new Set(
  `aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es et eu
  fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn
  ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os
  pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tn to tr ts tt
  ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu`.split(/\s+/),
)

/**
 * True for a well-formed tag whose language is a code of two or three letters. Longer language subtags are well-formed,
 * but not registered (RFC 5646 §2.2.1). Codes of three letters are not checked: there are thousands, with new ones yearly.
 */
function isLanguage(tag: string): boolean {
  try {
    const [canonical = '', ...more] = Intl.getCanonicalLocales(tag)
    const [language = ''] = canonical.split('-', 1)
    return more.length === 0 && (language.length === 3 || twoLetterLanguages.has(language))
  } catch {
    return false
  }
}
