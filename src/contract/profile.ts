import * as z from 'zod'
import { Difficulty } from './course-attributes.ts'
import { Language, optional, text, WebAddress } from './field.ts'

const Timezone = z
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

const LearningPreferences = z.strictObject({
  languages: z.array(Language).max(20).default([]),
  preferredDifficulty: optional(Difficulty),
  pace: optional(z.enum(['slow', 'normal', 'fast', 'self_paced'])),
  contentFormats: z
    .array(z.enum(['video', 'text', 'audio', 'interactive']))
    .max(4)
    .default([]),
  weeklyGoalMinutes: optional(z.int().min(0).max(10_080)),
  audio: optional(z.enum(['on', 'off'])),
  captions: optional(z.boolean()),
  deliverySpeed: optional(z.number().min(0.25).max(4)),
  accessibility: z
    .strictObject({
      highContrast: z.boolean().default(false),
      screenReader: z.boolean().default(false),
      reducedMotion: z.boolean().default(false),
    })
    .prefault({}),
  notifications: z
    .strictObject({ email: z.boolean().default(true), push: z.boolean().default(false) })
    .prefault({}),
})

const name = optional(text(1, 255))

export const Profile = z.strictObject({
  firstName: name,
  lastName: name,
  displayName: name,
  timezone: optional(Timezone),
  locale: optional(Language),
  avatarUrl: optional(WebAddress),
  bio: optional(z.string().max(2000)),
  learningPreferences: LearningPreferences.prefault({}),
})
