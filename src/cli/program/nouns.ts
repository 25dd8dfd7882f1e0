import type { Noun } from '../command/noun.ts'

/** Every noun, in the order of help; its commands are loaded when it is used. A new noun is one entry here. */
export const nouns: Readonly<Record<string, Noun>> = {
  quickstart: {
    group: 'Start here',
    summary: 'Make a local academy from real learners, and look around',
    load: async ({ runLine }) => (await import('../commands/quickstart.ts')).quickstartCommand(runLine),
  },
  courses: {
    group: 'Academy',
    summary: 'Set up courses, publish them, go back to earlier versions',
    load: async () => (await import('../commands/courses.ts')).commands,
  },
  lessons: {
    group: 'Academy',
    summary: 'Fill courses with lessons',
    load: async () => (await import('../commands/lessons.ts')).commands,
  },
  users: {
    group: 'Academy',
    summary: 'Keep the people: learners, instructors, analysts, admins',
    load: async () => (await import('../commands/users.ts')).commands,
  },
  enrollments: {
    group: 'Academy',
    summary: 'Say who takes which course',
    load: async () => (await import('../commands/enrollments.ts')).commands,
  },
  progress: {
    group: 'Academy',
    summary: 'See and set how far learners are',
    load: async () => (await import('../commands/progress.ts')).commands,
  },
  analytics: {
    group: 'Academy',
    summary: 'Export learners to CSV, see completion at a glance',
    load: async () => (await import('../commands/analytics.ts')).commands,
  },
  auth: {
    group: 'Access',
    summary: 'Sign in, sign out, see which credential is used',
    groups: { grants: 'See and revoke what applications may do for people' },
    load: async () => {
      const all = await Promise.all([import('../commands/auth.ts'), import('../commands/grants.ts')])
      return all.flatMap(({ commands }) => commands)
    },
  },
  profiles: {
    group: 'Access',
    summary: 'Keep several academies apart',
    load: async () => (await import('../commands/profiles.ts')).commands,
  },
  keys: {
    group: 'Access',
    summary: 'Create, list and revoke API keys',
    load: async () => (await import('../commands/keys.ts')).commands,
  },
  apps: {
    group: 'Access',
    summary: 'Register OAuth applications, which act for those who allow it',
    load: async () => (await import('../commands/apps.ts')).commands,
  },
  open: {
    group: 'Tools',
    summary: 'Show the dashboard in the browser',
    load: async () => (await import('../commands/open.ts')).command,
  },
  server: {
    group: 'Tools',
    summary: 'Serve an academy over HTTP',
    load: async () => (await import('../commands/server.ts')).commands,
  },
  doctor: {
    group: 'Tools',
    summary: 'Look at the set-up and say what is wrong',
    load: async () => (await import('../commands/doctor.ts')).command,
  },
  api: {
    group: 'Tools',
    summary: 'Send any request to the API',
    load: async () => (await import('../commands/api.ts')).command,
  },
  help: {
    group: 'Tools',
    summary: 'Explain a command or a topic',
    load: async ({ helpOf }) => (await import('../commands/help.ts')).helpCommand(helpOf),
  },
}
