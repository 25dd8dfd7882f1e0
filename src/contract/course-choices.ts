/** From easiest to hardest: `sort=difficulty` uses this order. */
export const difficulties = ['beginner', 'intermediate', 'advanced', 'expert'] as const

export const courseStatuses = ['draft', 'published', 'archived'] as const
