import * as z from 'zod'
import { Difficulty } from './course.ts'
import { Language, optional, text, WebAddress } from './field.ts'
import { field, sent } from './fields.ts'

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

const Accessibility = sent({
  highContrast: field(z.boolean().default(false), 'Use high contrast'),
  screenReader: field(z.boolean().default(false), 'Optimise for a screen reader'),
  reducedMotion: field(z.boolean().default(false), 'Avoid animation', 'Reduce motion'),
})

const Notifications = sent({
  email: field(z.boolean().default(true), 'Send e-mail', 'Send notifications by e-mail'),
  push: field(z.boolean().default(false), 'Send push notifications'),
})

const LearningPreferences = sent({
  languages: field(
    z.array(Language).max(20).default([]),
    'Preferred languages of content as BCP 47 tags, best first',
    'Preferred languages',
  ),
  preferredDifficulty: field(optional(Difficulty), 'Preferred level of courses', 'Preferred difficulty'),
  pace: field(optional(z.enum(['slow', 'normal', 'fast', 'self_paced'])), 'Preferred pace'),
  contentFormats: field(
    z
      .array(z.enum(['video', 'text', 'audio', 'interactive']))
      .max(4)
      .default([]),
    'Preferred forms of content, best first',
    'Preferred content formats',
  ),
  weeklyGoalMinutes: field(
    optional(z.int().min(0).max(10_080)),
    'Planned learning time per week, in minutes',
    'Weekly goal in minutes',
  ),
  audio: field(optional(z.enum(['on', 'off'])), 'Whether to play audio', 'Audio'),
  captions: field(optional(z.boolean()), 'Whether to show captions', 'Show captions'),
  deliverySpeed: field(
    optional(z.number().min(0.25).max(4)),
    'Playback speed, 0.25–4; 1 is normal',
    'Playback speed, 0.25–4',
  ),
  accessibility: field(Accessibility.prefault({}), 'Accessibility settings of the user'),
  notifications: field(Notifications.prefault({}), 'Notification settings of the user'),
})

const name = optional(text(1, 255))

/** Name, settings and learning preferences of a user. */
export const Profile = sent({
  firstName: field(name, 'First name'),
  lastName: field(name, 'Last name'),
  displayName: field(name, 'Name to show to others', 'Display name'),
  timezone: field(
    optional(Timezone),
    'IANA time zone, such as Europe/Vienna',
    'Time zone, such as Europe/Vienna',
  ),
  locale: field(
    optional(Language),
    'Language and region, as a BCP 47 tag such as en-GB',
    'Language and region, such as de-AT',
  ),
  avatarUrl: field(optional(WebAddress), 'Address of a picture, http or https', 'URL of a picture'),
  bio: field(optional(z.string().max(2000)), 'About the user, in their own words', 'Short biography'),
  learningPreferences: field(LearningPreferences.prefault({}), 'How the user prefers to learn'),
})
