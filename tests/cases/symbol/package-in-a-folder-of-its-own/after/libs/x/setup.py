from setuptools import setup, find_packages
setup(name='x', packages=find_packages('python'), package_dir={'': 'python'})
