import * as z from 'zod'

const instantPattern =
  /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/

/** True for a calendar day that exists, `YYYY-MM-DD`. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** True for an RFC 3339 date-time with zone and seconds, on a day that exists. */
export function isInstant(text: string): boolean {
  if (!instantPattern.test(text) || !isDay(text.slice(0, 10))) return false
  // In UTC it may fall outside the years 0000 to 9999, which have another form and do not sort as text.
  return /^\d/.test(new Date(text).toISOString())
}

/** A point in time: any RFC 3339 zone comes in, `YYYY-MM-DDTHH:mm:ss.sssZ` is kept. */
export const Instant = z
  .string()
  .meta({ format: 'date-time' })
  .refine(isInstant, {
    params: { code: 'invalid_time' },
    error: 'must be an RFC 3339 time with zone, such as 2026-01-31T09:30:00Z, on a day that exists',
  })
  .overwrite((text) => (isInstant(text) ? new Date(text).toISOString() : text))

/** A time in a response, `YYYY-MM-DDTHH:mm:ss.sssZ`. */
export const Time = z.string().meta({ format: 'date-time' })

/** One line or paragraph of text, `min` to `max` characters, white space around it cut off. */
export function text(min: number, max: number) {
  return z.string().trim().min(min).max(max)
}

/** A value that may be absent, which is stored and shown as null. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullable().default(null as never)
}

/** An id of ours, or `ext:<externalId>`, or for users `email:<address>`. */
export const Reference = z.string().min(1).max(512)

export const ExternalId = optional(z.string().min(1).max(255))
export const ManagedBy = optional(z.string().min(1).max(255))
export const Percent = z.number().min(0).max(100)
export const Minutes = z.int().min(0).max(10_000_000)
export const Objectives = z.array(text(1, 500)).max(100).default([])

export const WebAddress = z
  .string()
  .max(2048)
  .meta({ format: 'uri' })
  .refine((address) => URL.canParse(address) && /^https?:$/.test(new URL(address).protocol), {
    params: { code: 'invalid_url' },
    error: 'must be an http or https address',
  })

export const Language = z.string().refine(isLanguage, {
  params: { code: 'invalid_language' },
  error: 'must be a BCP 47 language tag, such as en or pt-BR',
})

function isLanguage(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1
  } catch {
    return false
  }
}

export const BooleanParam = z.enum(['true', 'false']).transform((text) => text === 'true')

/** A query parameter that filters by one exact text. Empty text would match everything, which nobody means. */
export const Exactly = z.string().min(1).max(255).optional()

/** A comma list of choices as a query parameter: `status=draft,published`. */
export function choices<const Choice extends string>(all: readonly [Choice, ...Choice[]]) {
  const one = z.enum(all)
  return z
    .string()
    .meta({ description: `Comma list of ${all.join(', ')}` })
    .transform((list, context) =>
      list.split(',').flatMap((item) => {
        const parsed = one.safeParse(item.trim())
        if (parsed.success) return [parsed.data]
        context.addIssue({ code: 'invalid_value', values: [...all], input: item })
        return []
      }),
    )
}
