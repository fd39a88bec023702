def keep(df):
    return df.where('a > 5')
